import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../core/base/index.ts';
import { Secret } from '../../../core/security/index.ts';
import { temporaryFolder } from './fixtures/stdio-connection.ts';
import { loadMcpConfig, parseMcpServers } from './mcp-config.ts';

const ROOT = '$' + '{PLUGIN_ROOT}';
const DATA = '$' + '{PLUGIN_DATA}';

function write(mcpServers: unknown, folder = realpathSync(temporaryFolder())) {
  const path = join(folder, 'mcp.json');
  writeFileSync(path, typeof mcpServers === 'string' ? mcpServers : JSON.stringify({ mcpServers }));
  return { folder, path };
}

async function problemsOf(mcpServers: unknown, env: Record<string, string> = {}): Promise<readonly string[]> {
  const { path } = write(mcpServers);
  const error = await loadMcpConfig(path, { env }).catch((thrown: unknown) => thrown);
  if (!(error instanceof ConfigError)) throw new Error('the file was accepted');
  return error.problems.map((problem) => problem.replace(`${path}: `, ''));
}

describe('loadMcpConfig', () => {
  it('reads both kinds of server, with the defaults', async () => {
    const { folder, path } = write({
      files: { command: 'npx', args: ['-y', 'files'], alwaysAllow: ['read'], timeout: 60_000 },
      web: { url: 'https://example.com/mcp', headers: { 'X-Team': 'a' } },
      stream: { type: 'streamable-http', url: 'http://127.0.0.1:1/mcp' },
    });
    expect(await loadMcpConfig(path, { env: {} })).toEqual({
      root: folder,
      servers: {
        files: {
          type: 'stdio',
          command: 'npx',
          args: ['-y', 'files'],
          env: {},
          cwd: folder,
          timeoutMs: 60_000,
        },
        web: { type: 'http', url: 'https://example.com/mcp', headers: { 'X-Team': 'a' } },
        stream: { type: 'http', url: 'http://127.0.0.1:1/mcp', headers: {} },
      },
    });
  });

  it('expands the two folders in args, env and cwd, and nowhere else', async () => {
    const { folder, path } = write({
      x: {
        command: `${ROOT}/run`,
        args: [`${ROOT}/a:${DATA}/b`, '$HOME', '$' + '{HOME}'],
        env: { FILE: `${DATA}/c` },
        cwd: `${ROOT}/sub`,
      },
    });
    mkdirSync(join(folder, 'sub'));
    const data = realpathSync(temporaryFolder());
    const { servers } = await loadMcpConfig(path, { env: {}, dataDir: data });
    expect(servers.x).toEqual({
      type: 'stdio',
      command: `${ROOT}/run`,
      args: [`${folder}/a:${data}/b`, '$HOME', '$' + '{HOME}'],
      env: { FILE: `${data}/c` },
      cwd: join(folder, 'sub'),
    });
  });

  it('takes env:NAME values from the environment as secrets', async () => {
    const { path } = write({
      a: { command: 'a', env: { TOKEN: 'env:SHOP_TOKEN' } },
      b: { url: 'https://example.com', headers: { Authorization: 'env:SHOP_HEADER' } },
    });
    const env = { SHOP_TOKEN: 't0ken', SHOP_HEADER: 'Bearer t0ken' };
    const { servers } = await loadMcpConfig(path, { env });
    expect(servers).toMatchObject({
      a: { env: { TOKEN: new Secret('t0ken') } },
      b: { headers: { Authorization: new Secret('Bearer t0ken') } },
    });
    expect(JSON.stringify(servers)).not.toContain('t0ken');
  });

  it('skips a disabled server, whatever is in it', async () => {
    const { path } = write({ off: { disabled: true, type: 'sse' }, on: { command: 'a', disabled: false } });
    expect(Object.keys((await loadMcpConfig(path, { env: {} })).servers)).toEqual(['on']);
  });

  it('reports every problem at once, each with its key', async () => {
    expect(
      await problemsOf({
        old: { type: 'sse', url: 'https://example.com' },
        both: { command: 'a', url: 'https://example.com' },
        none: {},
        odd: { type: 'http', command: 'a' },
        other: { type: 'pipe', command: 'a' },
        args: { command: 'a', args: ['ok', 7], env: { A: 1 } },
        url: { url: 'ftp://example.com' },
        token: { command: 'a', env: { TOKEN: 'env:NOT_SET', FILE: `${DATA}/x` } },
        'my server': { command: 'a' },
        seconds: { command: 'a', timeout: 60 },
        days: { url: 'https://example.com', timeout: 86_400_000 },
        soon: { command: 'a', timeout: 'soon' },
      }),
    ).toEqual([
      'mcpServers.old.type: the legacy transport "sse" is not supported; use "http" with a streamable HTTP url',
      'mcpServers.both: needs either a command or a url, and not both',
      'mcpServers.none: needs either a command or a url, and not both',
      'mcpServers.odd.type: "http" does not go with a command',
      'mcpServers.other.type: must be "stdio" or "http", not "pipe"',
      expect.stringMatching(/^mcpServers\.args\.args\.1: .*string/),
      expect.stringMatching(/^mcpServers\.args\.env\.A: .*string/),
      'mcpServers.url.url: must be an http or https URL',
      'mcpServers.token.env.TOKEN: the environment variable NOT_SET is not set',
      `mcpServers.token.env.FILE: uses ${DATA}, but there is no data directory`,
      'mcpServers.my server: the name must be letters, digits, "_" and "-", 64 at most',
      'mcpServers.seconds.timeout: is in milliseconds, and must be at least 1000',
      'mcpServers.days.timeout: must be at most 3600000 milliseconds, an hour',
      'mcpServers.soon.timeout: must be a whole number of milliseconds',
    ]);
  });

  it('refuses a working directory outside the folder, also through a symlink', async () => {
    const outside = temporaryFolder();
    const { folder, path } = write({
      up: { command: 'a', cwd: '..' },
      link: { command: 'a', cwd: 'link' },
      gone: { command: 'a', cwd: 'gone' },
      data: { command: 'a', cwd: DATA },
    });
    symlinkSync(outside, join(folder, 'link'));
    const load = loadMcpConfig(path, { env: {}, dataDir: temporaryFolder() });
    const error = (await load.catch((thrown: unknown) => thrown)) as ConfigError;
    expect(error.problems).toEqual([
      expect.stringContaining('mcpServers.up.cwd: '),
      expect.stringContaining('mcpServers.link.cwd: '),
      expect.stringMatching(/mcpServers\.gone\.cwd: ENOENT/),
    ]);
  });

  it.each([
    ['is not JSON', '{"mcpServers": {'],
    ['has no servers', '{"servers": {}}'],
  ])('names a file that %s', async (_, text) => {
    const { path } = write(text);
    await expect(loadMcpConfig(path, { env: {} })).rejects.toMatchObject({
      code: 'config.invalid',
      message: expect.stringContaining(path),
    });
  });

  it('names a file that is not there', async () => {
    const load = loadMcpConfig('/no/mcp.json', { env: {} });
    await expect(load).rejects.toMatchObject({ code: 'config.invalid', message: /^\/no\/mcp\.json: ENOENT/ });
  });
});

describe('parseMcpServers', () => {
  it('returns the good servers of a document beside the problems of the bad ones', () => {
    const root = realpathSync(temporaryFolder());
    const { servers, problems } = parseMcpServers(
      { mcpServers: { good: { command: 'a' }, bad: { command: '' } } },
      { root },
    );
    expect(Object.keys(servers)).toEqual(['good']);
    expect(problems).toMatchObject([{ server: 'bad' }]);
  });

  it('reads no environment for a document that is not trusted with it', () => {
    const entry = { command: 'a', env: { KEY: 'env:OPENAI_API_KEY' } };
    const { servers } = parseMcpServers({ mcpServers: { x: entry } }, { root: temporaryFolder() });
    expect(servers.x).toMatchObject({ env: { KEY: 'env:OPENAI_API_KEY' } });
  });
});
