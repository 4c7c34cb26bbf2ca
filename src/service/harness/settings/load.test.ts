import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ConfigError } from '../../../core/base/index.ts';
import { loadSettings, parseSettings, type SettingsInput, secretsOf } from './index.ts';

const LOCAL = { openai: { base_url: 'http://localhost:11434/v1', model: 'qwen' } } as const;
const HOME = { HOME: '/home/user' };

const folders: string[] = [];
function folder(files: Record<string, string>): string {
  const path = mkdtempSync(join(tmpdir(), 'settings-'));
  folders.push(path);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content);
  return path;
}
afterEach(() => {
  for (const path of folders.splice(0)) rmSync(path, { recursive: true });
});

function failure(load: () => unknown): ConfigError {
  try {
    load();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('it loaded');
}

function problems(input: SettingsInput, env: Record<string, string> = {}): readonly string[] {
  return failure(() => parseSettings(input, { ...HOME, ...env }, '/srv')).problems;
}

describe('defaults', () => {
  it('make an embedded agent on loopback without a model', () => {
    const settings = loadSettings({ env: HOME, cwd: '/srv' });
    expect(settings).toMatchObject({
      agent: { id: 'tiny-harness', conversation: 'open' },
      temporal: {
        mode: 'embedded',
        namespace: 'default',
        taskQueue: 'tiny-harness',
        heartbeatTimeoutMs: 30_000,
      },
      server: { bindHost: '127.0.0.1', bindPort: 8080, baseUrl: 'http://127.0.0.1:8080', idempotency: true },
      store: { sqlitePath: '/home/user/.tiny-harness/tiny-harness/store.db' },
      context: { historyEventBound: 2000 },
      limits: { turnsPerExchange: 50, repeatedCalls: 5 },
      warnings: [],
      notes: [],
    });
    expect(settings.model).toBeUndefined();
    expect(settings.noModel).toMatch(/^no model is configured/);
    expect(settings.temporal.embedded.databasePath).toBe(
      '/home/user/.tiny-harness/tiny-harness/temporal.sqlite3',
    );
  });

  it('give agents that differ in their id a store and a queue each', () => {
    const settings = parseSettings({ agent: { id: 'desk' } }, { TINY_HARNESS_HOME: '/data' }, '/srv');
    expect(settings.store.sqlitePath).toBe('/data/desk/store.db');
    expect(settings.temporal.taskQueue).toBe('desk');
  });

  it('take a base URL from the bind, and warn where it helps nobody', () => {
    expect(parseSettings({ server: { bind: '[::1]:9' } }, HOME).server.baseUrl).toBe('http://[::1]:9');
    const open = parseSettings({ server: { bind: '0.0.0.0:9', public: true } }, HOME);
    expect(open.server).toMatchObject({ baseUrl: 'http://127.0.0.1:9', baseUrlFromBind: true });
    expect(open.warnings).toEqual([expect.stringContaining('server.base_url')]);
  });
});

describe('keys that 0.9 does not have', () => {
  it('load', () => {
    const settings = parseSettings(
      {
        ...LOCAL,
        agent: { conversation: 'single' },
        model: { provider: 'openai' },
        temporal: {
          heartbeat_timeout: '1m',
          embedded: {
            download_url: 'https://mirror/t',
            download_sha256: 'a'.repeat(64),
            synchronous: 'normal',
          },
        },
        openai: { ...LOCAL.openai, idle_timeout: '5m' },
        server: { idempotency: false, allowed_hosts: ['10.0.0.0/8'], default_participant: 'me' },
        limits: { turns_per_exchange: 9, total_tokens: 8, working_time: '2h', repeated_calls: 3 },
        mcp_config: 'mcp.json',
      },
      HOME,
      '/srv',
    );
    expect(settings).toMatchObject({
      agent: { conversation: 'single' },
      temporal: {
        heartbeatTimeoutMs: 60_000,
        embedded: { downloadUrl: 'https://mirror/t', synchronous: 'normal' },
      },
      model: { openai: { idleTimeoutMs: 300_000 } },
      server: { idempotency: false, allowedHosts: ['10.0.0.0/8'], defaultParticipant: 'me' },
      limits: { turnsPerExchange: 9, totalTokens: 8, workingTimeMs: 7_200_000, repeatedCalls: 3 },
      mcpConfig: '/srv/mcp.json',
    });
  });
});

describe('layers', () => {
  it('are defaults, file, flags, code; paths are relative to the working directory', () => {
    const cwd = folder({
      'agent.toml':
        '[agent]\nid = "file"\n[server]\nbind = "127.0.0.1:1"\n[store]\nsqlite_path = "a.db"\n[limits]\ntotal_tokens = 5\n',
    });
    const settings = loadSettings({
      path: 'agent.toml',
      env: HOME,
      cwd,
      flags: { agent: { id: 'flag' }, server: { bind: '127.0.0.1:2' } },
      overrides: { server: { bind: '127.0.0.1:3' } },
    });
    expect(settings.agent.id).toBe('flag');
    expect(settings.server.bindPort).toBe(3);
    expect(settings.limits).toEqual({ turnsPerExchange: 50, repeatedCalls: 5, totalTokens: 5 });
    expect(settings.store.sqlitePath).toBe(join(cwd, 'a.db'));
  });

  it('say which file is missing, or where it is no TOML, without quoting it', () => {
    const cwd = folder({ 'bad.toml': '[openai]\napi_key = "hush" x\n' });
    expect(failure(() => loadSettings({ path: 'no.toml', env: {}, cwd })).message).toBe(
      `${join(cwd, 'no.toml')}: there is no such configuration file`,
    );
    const { message } = failure(() => loadSettings({ path: 'bad.toml', env: {}, cwd }));
    expect(message).toMatch(/bad\.toml:2:\d+: not TOML: /);
    expect(message).not.toContain('hush');
  });
});

describe('a report', () => {
  it('has every problem, of keys and of rules between them, one line each', () => {
    expect(
      problems({
        agent: { id: 'A' },
        agnt: {},
        server: { bnd: 'x', bind: '0.0.0.0:1', default_participant: 'me', legacy: 'true' },
        temporal: { address: 'localhost:7233', mode: 'embeded' },
        openai: { timeout: 'soon' },
        card: 'Desk',
        agents: [{ id: 'self' }],
      } as unknown as SettingsInput),
    ).toEqual([
      'agent.id: must be 1 to 63 of a-z, 0-9 and "-", and not start with "-"',
      'card: must be a table',
      'temporal.mode: must be "remote" or "embedded"',
      'openai.timeout: must be a duration: "30s", "5m", "PT30S", "HH:MM:SS" or a number of seconds',
      'unknown key server.bnd: did you mean server.bind?',
      'agents[0].id: "self" is reserved',
      'agents[0].url: is required',
      'unknown key agnt: did you mean agent?',
      expect.stringMatching(/^server\.default_participant: only with a loopback/),
      expect.stringMatching(/^server\.legacy: .* not built yet/),
      expect.stringMatching(/^agents: .* not built yet/),
    ]);
  });

  it('finds a key of another table, and lists what is known when nothing is near', () => {
    expect(problems({ server: { task_queue: 'x' } } as SettingsInput)).toEqual([
      'unknown key server.task_queue: did you mean temporal.task_queue?',
    ]);
    expect(problems({ agent: { zzzzzzzz: 1 } } as SettingsInput)).toEqual([
      'unknown key agent.zzzzzzzz: known here: id, name, description, conversation',
    ]);
    expect(problems({ temporal: { tls: { zz: 1 } } } as SettingsInput)[0]).toContain('known here: enabled');
  });

  it('survives hostile keys', () => {
    const hostile = JSON.parse(
      '{"__proto__":{"a":1},"constructor":1,"agent":{"__proto__":1}}',
    ) as SettingsInput;
    expect(problems(hostile)).toHaveLength(3);
  });
});

describe('secrets', () => {
  it('come from a variable, from a file it names, or from the variable a key names', () => {
    const cwd = folder({ key: 'from-file\n' });
    const load = (input: SettingsInput, env: Record<string, string>) =>
      parseSettings({ ...LOCAL, ...input }, env, cwd).model?.openai?.apiKey?.reveal();
    expect(load({}, { OPENAI_API_KEY: 'from-variable' })).toBe('from-variable');
    expect(load({}, { OPENAI_API_KEY_FILE: 'key' })).toBe('from-file');
    const named = { openai: { ...LOCAL.openai, api_key: 'env:DESK_KEY' } };
    expect(load(named, { OPENAI_API_KEY: 'shared', DESK_KEY: 'own' })).toBe('own');
    expect(load({}, { OPENAI_API_KEY: '' })).toBeUndefined();
  });

  it('that are needed and missing have a code of their own', () => {
    const error = failure(() => parseSettings({ openai: {} }, HOME));
    expect(error.code).toBe('config.secret_missing');
    expect(error.message).toContain('OPENAI_API_KEY');
    expect(problems({ openai: { ...LOCAL.openai, api_key: 'env:NOPE' } })).toEqual([
      'openai.api_key: the environment variable NOPE is not set',
    ]);
    expect(problems(LOCAL, { OPENAI_API_KEY_FILE: '/nope' })[0]).toMatch(
      /^openai\.api_key: the file that OPENAI_API_KEY_FILE/,
    );
  });

  it('are all known to the redactor, and print nowhere', () => {
    const env = {
      OPENAI_API_KEY: 'secret-a',
      LANGFUSE_SECRET_KEY: 'secret-b',
      TINY_HARNESS_PUSH_KEY: 'secret-c',
    };
    const settings = parseSettings(LOCAL, env);
    expect(secretsOf(settings).sort()).toEqual(['secret-a', 'secret-b', 'secret-c']);
    expect(JSON.stringify(settings)).not.toContain('secret-');
  });
});

describe('temporal', () => {
  const remote = { address: 'a.example:7233', namespace: 'n' };

  it('is remote when an address is given, and needs what a remote one needs', () => {
    expect(parseSettings({ temporal: remote }, { TEMPORAL_API_KEY: 'k-123456' }).temporal).toMatchObject({
      mode: 'remote',
      tls: {},
    });
    expect(problems({ temporal: { mode: 'remote', embedded: {} } })).toEqual([
      'temporal.address: is required in remote mode',
      'temporal.namespace: is required in remote mode',
      expect.stringMatching(/^temporal\.embedded: /),
    ]);
    expect(problems({ temporal: remote })).toEqual([
      expect.stringMatching(/^temporal\.api_key: .*TEMPORAL_API_KEY/),
    ]);
  });

  it('accepts a client certificate for a key, and nothing at all on loopback', () => {
    const cwd = folder({ cert: 'c', key: 'k' });
    const tls = { cert_file: 'cert', key_file: 'key' };
    expect(parseSettings({ temporal: { ...remote, tls } }, {}, cwd).temporal.tls).toEqual({
      certFile: join(cwd, 'cert'),
      keyFile: join(cwd, 'key'),
    });
    const local = { ...remote, address: 'localhost:7233' };
    expect(parseSettings({ temporal: local }, {}).temporal.tls).toBeUndefined();
    expect(parseSettings({ temporal: local }, { TEMPORAL_API_KEY: 'k-123456' }).temporal.tls).toEqual({});
  });

  it('refuses in embedded mode what only a remote one has', () => {
    const lines = problems(
      { temporal: { mode: 'embedded', address: 'a:1', tls: false } },
      { TEMPORAL_API_KEY: 'k-123456' },
    );
    expect(lines.map((line) => line.split(':')[0])).toEqual([
      'temporal.address',
      'temporal.tls',
      'temporal.api_key',
    ]);
  });

  it('refuses a binary that is none', () => {
    expect(problems({ temporal: { embedded: { binary_path: 'no-such' } } })).toEqual([
      'temporal.embedded.binary_path: no executable file at /srv/no-such',
    ]);
  });
});

describe('model', () => {
  it('speaks chat completions to a base URL', () => {
    const { model } = parseSettings(LOCAL, HOME);
    expect(model).toEqual({
      provider: 'openai',
      openai: {
        model: 'qwen',
        models: ['qwen'],
        baseUrl: 'http://localhost:11434/v1',
        api: 'chat_completions',
        timeoutMs: 60_000,
        maxOutputTokens: 2000,
      },
    });
  });

  it('speaks responses to OpenAI, and whatever openai.api says', () => {
    const apiOf = (openai: SettingsInput['openai']) =>
      parseSettings({ openai }, { OPENAI_API_KEY: 'k-123456' }).model?.openai?.api;
    expect(apiOf({})).toBe('responses');
    expect(apiOf({ api: 'chat_completions' })).toBe('chat_completions');
    expect(apiOf({ ...LOCAL.openai, api: 'responses' })).toBe('responses');
  });

  it('needs no more than OPENAI_API_KEY', () => {
    expect(parseSettings({}, { OPENAI_API_KEY: 'k-123456' }).model).toMatchObject({
      provider: 'openai',
      openai: { api: 'responses', model: 'gpt-6.1-sol' },
    });
  });

  it('is refused where it is not built, with what to write', () => {
    expect(problems({ anthropic: { model: 'm' } }, { ANTHROPIC_API_KEY: 'k-123456' })).toEqual([
      expect.stringMatching(/^model\.provider: .*"anthropic" is not built yet/),
    ]);
  });

  it('is no error when only a key that is of no use lies about in the environment', () => {
    const settings = parseSettings({}, { ANTHROPIC_API_KEY: 'k-123456' });
    expect(settings.model).toBeUndefined();
    expect(settings.noModel).toContain('ANTHROPIC_API_KEY is set, but');
  });

  it('is OpenAI when both sections are there', () => {
    expect(parseSettings({ ...LOCAL, anthropic: { model: 'm' } }, {}).model?.provider).toBe('openai');
  });

  it('sends no key over plain http to another machine', () => {
    expect(problems({ openai: { base_url: 'http://gpu:8000/v1' } }, { OPENAI_API_KEY: 'k-123456' })).toEqual([
      expect.stringMatching(/^openai\.base_url: .*plain http/),
    ]);
    expect(parseSettings({ openai: { base_url: 'http://gpu:8000/v1' } }, {}).model).toBeDefined();
  });

  it('warns that OPENAI_BASE_URL is not read', () => {
    expect(parseSettings({}, { OPENAI_BASE_URL: 'http://x' }).warnings).toEqual([
      expect.stringContaining('OPENAI_BASE_URL'),
    ]);
  });
});

describe('a bind that others can reach', () => {
  it('is warned about, accepted with public = true, refused with public = false', () => {
    const load = (server: SettingsInput['server']) =>
      parseSettings({ server: { bind: '10.0.0.1:80', base_url: 'https://a', ...server } }, {});
    expect(load({}).warnings).toEqual([expect.stringContaining('perimeter')]);
    expect(load({ public: true }).warnings).toEqual([]);
    expect(failure(() => load({ public: false })).problems[0]).toMatch(/^server\.public: /);
  });

  it('takes no default participant', () => {
    const server = { default_participant: 'me' };
    expect(parseSettings({ server }, {}).server.defaultParticipant).toBe('me');
    expect(problems({ server: { ...server, bind: '0.0.0.0:80' } })[0]).toMatch(
      /^server\.default_participant: /,
    );
  });
});

describe('what is not built yet', () => {
  it.each([
    ['store.postgres_url', { store: { postgres_url: 'postgres://u:hush@h/d' } }, {}],
    ['server.grpc_bind', { server: { grpc_bind: '127.0.0.1:1' } }, {}],
    ['server.ui_dir', { server: { ui_dir: 'ui' } }, {}],
    ['server.auth', { server: { auth: {} } }, {}],
    ['plugins', { plugins: ['p'] }, {}],
    ['media', { media: {} }, {}],
    ['TINY_HARNESS_ENCRYPTION_KEY', {}, { TINY_HARNESS_ENCRYPTION_KEY: 'k-123456' }],
  ])('refuses %s by name', (key, input: SettingsInput, env: Record<string, string>) => {
    const lines = problems(input, env);
    expect(lines).toEqual([expect.stringMatching(new RegExp(`^${key}: .*not built yet`))]);
    expect(lines.join()).not.toContain('hush');
  });

  it('accepts the same keys where they ask for nothing', () => {
    const settings = parseSettings({ server: { legacy: false, ui: false }, agents: [], plugins: [] }, {});
    expect(settings.plugins).toEqual([]);
  });
});

describe('the two names of the card', () => {
  it('are one thing, and may not differ', () => {
    expect(parseSettings({ agent: { name: 'Desk' } }, {}).card.name).toBe('Desk');
    expect(parseSettings({ agent: { name: 'Desk' }, card: { name: 'Desk' } }, {}).card.name).toBe('Desk');
    expect(problems({ agent: { name: 'Desk' }, card: { name: 'Other' } })).toEqual([
      'card.name: differs from agent.name; give one of the two',
    ]);
  });
});

describe('prices', () => {
  const price = { input: 1.25, output: 10 };

  it('are by the name of the model; what was cached costs as much unless it is said', () => {
    expect(parseSettings({}, {}).prices).toEqual({});
    const settings = parseSettings(
      { ...LOCAL, prices: { qwen: price, 'Qwen-2.5': { ...price, cached: '0.5' } }, limits: { cost: 2 } },
      {},
    );
    expect(settings.prices).toEqual({
      qwen: { ...price, cached: 1.25 },
      'Qwen-2.5': { ...price, cached: 0.5 },
    });
    expect(settings.limits.cost).toBe(2);
  });

  it('are needed of every model where there is a limit of cost', () => {
    const models = { ...LOCAL.openai, model: 'a', models: ['a', 'b', 'c'] };
    expect(problems({ openai: models, prices: { b: price }, limits: { cost: 2 } })).toEqual([
      'limits.cost: needs the price of every model; [prices] has none for "a", "c"',
    ]);
    expect(problems({ openai: models, prices: { a: { ...price, output: -1 } } })).toEqual([
      expect.stringMatching(/^prices\.a\.output: must be a number of at least 0/),
    ]);
  });
});

describe('approvals', () => {
  it('have no rule, and ask admins, then reporters, for as long as it takes', () => {
    expect(parseSettings({}, {}).approvals).toEqual({ rules: [], approvers: ['admin', 'reporter'] });
  });

  it('load from a file, in the order in which they stand there', () => {
    const cwd = folder({
      'agent.toml': `
[approvals]
approvers = ["reporter", "assignee"]
deadline = "2h"

[[approvals.rules]]
tool = "local/orders.*"
annotations = { read_only = true, destructive = "false", idempotent = true, open_world = false }
decision = "allow"

[[approvals.rules]]
tool = "local/refunds.pay"
decision = "ask"
reason = "It is money."
[approvals.rules.arguments]
required = ["amount"]
properties.amount = { type = "number", exclusiveMinimum = 100 }
`,
    });
    expect(loadSettings({ path: 'agent.toml', env: {}, cwd }).approvals).toEqual({
      approvers: ['reporter', 'assignee'],
      deadlineMs: 7_200_000,
      rules: [
        {
          tool: 'local/orders.*',
          annotations: {
            readOnlyHint: true,
            destructiveHint: false,
            idempotentHint: true,
            openWorldHint: false,
          },
          decision: 'allow',
        },
        {
          tool: 'local/refunds.pay',
          decision: 'ask',
          reason: 'It is money.',
          arguments: {
            required: ['amount'],
            properties: { amount: { type: 'number', exclusiveMinimum: 100 } },
          },
        },
      ],
    });
  });

  it('name the rule whose schema is none', () => {
    const rule = (schema: Record<string, unknown>) =>
      ({ tool: '*', decision: 'ask', arguments: schema }) as const;
    expect(
      problems({
        approvals: { rules: [rule({}), rule({ type: 'nothing' }), rule({ amount: { minimum: 1 } })] },
      }),
    ).toEqual([
      expect.stringMatching(/^approvals\.rules\[1\]\.arguments: the JSON schema does not compile: /),
      expect.stringMatching(/^approvals\.rules\[2\]\.arguments: .*unknown keyword: "amount"/),
    ]);
  });

  it('refuse what they do not know', () => {
    expect(
      problems({
        approvals: {
          approvers: ['watcher'],
          deadline: 0,
          rules: [
            { tool: ' ', decision: 'maybe' },
            { tool: '*', decision: 'ask', annotations: { destructiv: true }, toll: 1 },
            {},
          ],
        },
      } as unknown as SettingsInput),
    ).toEqual([
      'approvals.approvers[0]: must be "admin" or "reporter" or "assignee"',
      'approvals.deadline: must be at least 1 s',
      'approvals.rules[0].tool: must not be blank',
      'approvals.rules[0].decision: must be "allow" or "ask" or "deny"',
      'unknown key approvals.rules[1].annotations.destructiv: did you mean approvals.rules.annotations.destructive?',
      'unknown key approvals.rules[1].toll: did you mean approvals.rules.tool?',
      'approvals.rules[2].tool: is required',
      'approvals.rules[2].decision: must be "allow" or "ask" or "deny"',
    ]);
    expect(problems({ approvals: { approvers: [] } })).toEqual(['approvals.approvers: must name a role']);
  });
});
