/** `tasks`, `config` and `doctor`: what an administrator looks at, as real processes. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { SqliteStore } from '../../src/adapters/store/sqlite/index.ts';
import type { JsonObject } from '../../src/core/base/index.ts';
import { FakeClock, type ModelReply, startModelServer } from '../../src/testing/index.ts';
import { DATA } from '../store/contract.ts';
import { testFolder } from '../support/harness.ts';
import { freePort, linesOf, run, start } from './program.ts';

/** A configuration on the run's Temporal, for a model server of the test's own. */
async function setUp(replies: (body: JsonObject, n: number) => ModelReply, top = '') {
  const model = await startModelServer({ replies });
  onTestFinished(() => model.close());
  const folder = testFolder();
  const config = join(folder, 'my.toml');
  const port = await freePort();
  writeFileSync(
    config,
    [
      top,
      `[agent]\nid = "adm-${randomUUID().slice(0, 8)}"\nconversation = "single"`,
      `[openai]\nbase_url = "${model.url}"\nmodel = "local-model"`,
      `[temporal]\naddress = "${inject('temporal')}"\nnamespace = "default"`,
      `[store]\nsqlite_path = "${join(folder, 'store.db')}"`,
      `[server]\nbind = "127.0.0.1:${port}"`,
    ].join('\n'),
  );
  return { folder, config, port, model };
}

/** The configuration of a store that has these tasks, the last one the newest. */
async function storeWith(ids: readonly string[]): Promise<string> {
  const { folder, config } = await setUp(() => ({ text: '?' }));
  const clock = new FakeClock();
  const store = SqliteStore.open(join(folder, 'store.db'), clock);
  for (const id of ids) {
    clock.advance(1000);
    await store.admit({
      inbox: {
        key: id,
        taskId: id,
        sender: 'alice',
        senderKind: 'human',
        messageId: id,
        bodyHash: '',
        message: { parts: [], extensions: [], referenceTaskIds: [] },
        mail: { key: id, messageId: id, sender: 'alice', role: 'reporter', kind: 'human' },
      },
      task: { id, contextId: 'context', reporter: 'alice', data: DATA },
    });
  }
  await store.close();
  return config;
}

/** The tool of a request whose name ends so, as this provider spells it. */
function toolName(body: JsonObject, end: string): string {
  const tools = body.tools as { function: { name: string } }[];
  return tools.map((tool) => tool.function.name).find((name) => name.endsWith(end)) ?? `no tool ${end}`;
}

describe('tasks', { timeout: 60_000 }, () => {
  it('lists and shows what the store holds, beside a server and without one', async () => {
    const { config, port } = await setUp((body, n) =>
      n === 1
        ? { text: 'All \u001b[31mdone.' }
        : {
            calls: [
              {
                name: toolName(body, 'ask_participant'),
                arguments: { participant_id: 'ada', question: 'Which colour?', options: [] },
              },
            ],
          },
    );
    const served = start(['serve', '--with-worker', '--config', config]);
    await served.until(/^ready: /m);
    const send = (text: string) =>
      run(['send', text, '--url', `http://127.0.0.1:${port}/`, '--participant', 'ada']);
    await send('Water the plants');
    await send('Paint the shed');

    const beside = await run(['tasks', 'list', '--config', config]);
    served.child.kill('SIGTERM');
    await served.ended;
    const waiting = await run(['tasks', 'list', '--waiting', '--json', '--config', config]);
    const mine = (who: string) =>
      run(['tasks', 'list', '--waiting', '--participant', who, '--config', config]);
    const [forAda, forBob] = [await mine('ada'), await mine('bob')];
    const all = await run(['tasks', 'list', '--config', config]);
    const [, done = ''] = /^(\S+) {2}COMPLETED /m.exec(all.stdout) ?? [];
    const shown = await run(['tasks', 'show', done, '--config', config]);
    const json = await run(['tasks', 'show', done, '--json', '--config', config]);

    expect(linesOf(beside.stdout)).toEqual([
      expect.stringMatching(/INPUT_REQUIRED \(awaiting-answer\) .* ada {2}Paint the shed$/),
      expect.stringMatching(/COMPLETED .* ada {2}Water the plants$/),
    ]);
    expect(all.stdout).toBe(beside.stdout);
    expect(JSON.parse(waiting.stdout)).toMatchObject({ state: 'INPUT_REQUIRED', name: 'Paint the shed' });
    const [task = ''] = forAda.stdout.split(' ', 1);
    expect(linesOf(forAda.stdout)).toEqual([
      expect.stringMatching(/ada {2}Paint the shed$/),
      '  ? to ada: Which colour?',
      expect.stringMatching(
        `^    tiny-harness send "..." --task ${task} --reply-to ${task}:help:\\d+ --participant ada$`,
      ),
    ]);
    expect([forBob.code, forBob.stdout, forBob.stderr]).toEqual([0, '', 'no task waits for bob\n']);
    expect(shown.code).toBe(0);
    expect(shown.stdout).toMatch(/ada: Water the plants[\s\S]*All \\u001b\[31mdone\.[\s\S]*- COMPLETED/);
    expect(JSON.parse(json.stdout)).toMatchObject({ id: done, state: 'COMPLETED' });
  });

  it('fail in one line where there is no store', async () => {
    const { config } = await setUp(() => ({ text: '?' }));
    const { code, stderr } = await run(['tasks', 'list', '--config', config]);
    expect([code, linesOf(stderr)]).toEqual([
      1,
      [expect.stringMatching(/there is no store at .*store\.db yet/)],
    ]);
  });

  it.each([
    ['show', ['nowhere']],
    ['list', ['--after', 'nowhere']],
  ])('%s fails in one line for an unknown task', async (command, args) => {
    const { code, stderr } = await run(['tasks', command, ...args, '--config', await storeWith(['a'])]);
    expect([code, linesOf(stderr)]).toEqual([1, [expect.stringContaining('there is no task nowhere')]]);
  });

  it('list page by page, and say where the next one begins', async () => {
    const config = await storeWith(['a', 'b', 'c', 'd', 'e']);
    const page = async (...more: string[]) => {
      const { code, stdout, stderr } = await run(['tasks', 'list', '--config', config, ...more]);
      return [code, linesOf(stdout).map((each) => each.split(' ', 1)[0]), stderr];
    };

    expect(await page('--limit', '2')).toEqual([0, ['e', 'd'], 'there are more: --after d\n']);
    expect(await page('--limit', '2', '--after', 'd')).toEqual([
      0,
      ['c', 'b'],
      'there are more: --after b\n',
    ]);
    expect(await page('--limit', '2', '--after', 'b')).toEqual([0, ['a'], '']);
    expect(await page('--after', 'a')).toEqual([0, [], 'there are no more\n']);
    expect(await page('--limit', '2', '--waiting')).toEqual([0, [], 'no task waits for anybody\n']);
    expect(await page('--limit', 'few')).toEqual([2, [], expect.stringContaining('a whole number above 0')]);
  });
});

describe('config', { timeout: 60_000 }, () => {
  it('prints a configuration that comes to the same, with the keys of a file', async () => {
    const folder = testFolder();
    const [config, again] = [join(folder, 'my.toml'), join(folder, 'again.toml')];
    writeFileSync(
      config,
      `mcp_config = "mcp.json"
      [agent]
      id = "mine"
      [openai]
      base_url = "http://127.0.0.1:9/v1"
      model = "m"
      idle_timeout = "90s"
      [temporal]
      address = "127.0.0.1:7233"
      namespace = "default"
      heartbeat_timeout = 2.5
      tls = true
      [server]
      bind = "[::1]:8080"
      base_url = "https://agents.example.com/mine"
      [limits]
      working_time = "2h"
      cost = 2.5
      [prices.m]
      input = 1
      output = 10
      [prices."Qwen-2.5"]
      input = 0.5
      cached = 0.1
      output = 2
      [retries.per_activity.model_turn]
      maximum_attempts = 2
      [approvals]
      deadline = "1d"
      [[approvals.rules]]
      tool = "shop/*"
      decision = "ask"
      annotations = { read_only = false }
      arguments = { type = "object", properties = { maxPrice = { type = "number" } } }`,
    );

    const { code, stdout } = await run(['config', '--config', config], { cwd: folder });
    writeFileSync(again, stdout);
    const twice = await run(['config', '--config', again], { cwd: folder });

    expect([code, twice.stdout]).toEqual([0, stdout]);
    for (const each of [
      `mcp_config = "${join(folder, 'mcp.json')}"`,
      'idle_timeout = "90s"',
      'heartbeat_timeout = "2500ms"',
      'tls = true',
      'bind = "[::1]:8080"',
      'working_time = "2h"',
      'cost = 2.5',
      '[prices."Qwen-2.5"]',
      '[retries.per_activity.model_turn]',
      'deadline = "1d"',
      'maxPrice',
    ])
      expect(stdout).toContain(each);
    expect(stdout.replace('maxPrice', '')).not.toMatch(/^ *[\w.]*[a-z][A-Z][\w.]* =/m);
  });
});

describe('doctor', { timeout: 60_000 }, () => {
  it('finds nothing wrong where nothing is', async () => {
    const { config, folder } = await setUp(() => ({ text: '?' }), 'mcp_config = "mcp.json"');
    const orders = fileURLToPath(new URL('../../src/demo/servers/orders.ts', import.meta.url));
    const server = { command: process.execPath, args: [orders] };
    writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { shop: server } }));

    const { code, stdout } = await run(['doctor', '--config', config], { cwd: folder });

    const says = linesOf(stdout).map((each) => each.replace(/^(\w+) +(\w+).*$/, '$1 $2'));
    expect(stdout).toMatch(/^ok {4}mcp shop: \d+ tools$/m);
    expect(says.filter((each) => !each.startsWith('warn'))).toEqual(
      expect.arrayContaining(['ok configuration', 'ok temporal', 'ok store', 'ok mcp', 'ok port']),
    );
    expect(code, stdout).toBe(0);
  });

  it('names everything that is wrong, with what to do', async () => {
    const folder = testFolder();
    const taken = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as { port: number };
    const nobody = await freePort();
    writeFileSync(
      join(folder, 'store.db'),
      'these are not the bytes of a store, and there are enough of them',
    );
    writeFileSync(
      join(folder, 'mcp.json'),
      JSON.stringify({ mcpServers: { shop: { command: '/nothing/here' } } }),
    );
    const config = join(folder, 'my.toml');
    writeFileSync(
      config,
      [
        'mcp_config = "mcp.json"',
        `[openai]\nbase_url = "http://127.0.0.1:${nobody}/v1"\nmodel = "m"`,
        `[temporal]\naddress = "127.0.0.1:${nobody}"\nnamespace = "default"`,
        `[store]\nsqlite_path = "${join(folder, 'store.db')}"`,
        `[server]\nbind = "127.0.0.1:${port}"`,
      ].join('\n'),
    );

    const { code, stdout } = await run(['doctor', '--json', '--config', config], { cwd: folder });

    const found = linesOf(stdout).map((each) => JSON.parse(each) as Record<string, string>);
    const failed = Object.fromEntries(
      found.filter(({ level }) => level === 'fail').map(({ check, says }) => [check, says]),
    );
    expect(failed).toEqual({
      model: expect.stringMatching(/does not answer \(.*ECONNREFUSED.*set openai\.base_url/),
      temporal: expect.stringMatching(/does not answer .*check temporal\.address/),
      store: expect.stringMatching(/the file is damaged, and was left as it is/),
      'mcp shop': expect.stringContaining('shop'),
      port: expect.stringMatching(/taken by another program; set server\.bind/),
    });
    expect(code).toBe(1);
  });

  it('is a matter of configuration when there is none', async () => {
    expect((await run(['doctor'])).code).toBe(2);
  });
});

describe('serve without a configuration', { timeout: 60_000 }, () => {
  it('starts with the defaults when the environment has a key', async () => {
    const home = testFolder();
    const env = { HOME: home, OPENAI_API_KEY: 'marker-77aa01' };
    const served = start(['serve', '--bind', '127.0.0.1:0'], { env, cwd: home });

    const [line] = await served.until(/^ready: .*$/m);

    expect(line).toContain('at OpenAI');
    expect(served.output).not.toContain('marker-77aa01');
    served.child.kill('SIGTERM');
    expect(await served.ended).toBe(0);
  });
});
