import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createAbort } from '../../../core/base/index.ts';
import { Secret } from '../../../core/security/index.ts';
import { recordedPids } from './fixtures/fixture-server.ts';
import {
  callTool,
  connectFixture,
  fixturePath,
  isRunning,
  temporaryFolder,
} from './fixtures/stdio-connection.ts';

describe('the tools of a server over stdio', () => {
  it('come from every page of the list, sorted, under the names of the harness', async () => {
    const { connection } = await connectFixture();
    const names = connection.tools.map(({ name }) => name.replace('local/kitchen.', ''));
    expect(names.join(' ')).toBe(
      'announce die die_reading echo environment fails flood huge picture refuses slow structured',
    );
    expect(connection.tools.find(({ name }) => name === 'local/kitchen.echo')).toMatchObject({
      description: 'Returns the text.',
      inputSchema: { type: 'object', required: ['text'] },
      annotations: { readOnlyHint: true, title: 'Echo' },
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('leave out the one whose schema does not compile, with a warning', async () => {
    const { recorder } = await connectFixture();
    expect(recorder.lines).toContainEqual({
      message: 'MCP tool left out',
      tool: 'local/kitchen.broken',
      error: expect.stringContaining('does not compile'),
    });
  });

  it('keep their hash from one connection to the next', async () => {
    const [one, two] = [await connectFixture(), await connectFixture()];
    const hashes = one.connection.tools.map(({ hash }) => hash);
    expect(two.connection.tools.map(({ hash }) => hash)).toEqual(hashes);
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});

describe('a call over stdio', () => {
  it('returns text, errors, structured content and references to what is not text', async () => {
    const { connection } = await connectFixture();
    expect(await callTool(connection, 'echo', { text: 'hello' })).toEqual({ text: 'hello' });
    expect(await callTool(connection, 'fails')).toEqual({ text: 'no such order', isError: true });
    // Its output schema asks for a string. The call took effect, so its result is not thrown away.
    expect(await callTool(connection, 'structured')).toEqual({ text: '{"total":3}', data: { total: 3 } });
    expect((await callTool(connection, 'picture')).text.split('\n')).toEqual([
      'a lamp',
      '[image image/png, 1234 bytes]',
      '[resource file:///a.bin application/octet-stream, 5 bytes]',
      '[resource file:///a.txt]',
      'inside',
      '[resource https://example.com/b]',
    ]);
  });

  it('returns a result of 30 MB, whole', async () => {
    const { connection } = await connectFixture();
    const begun = performance.now();

    const { text } = await callTool(connection, 'huge');

    expect([text.length, text.replaceAll('ä', '')]).toEqual([15_000_000, '']);
    expect(performance.now() - begun).toBeLessThan(5_000);
  });

  it('fails with a typed error when the server answers with a protocol error', async () => {
    const { connection } = await connectFixture();
    await expect(callTool(connection, 'refuses')).rejects.toMatchObject({
      code: 'tool.failed',
      message: expect.stringContaining('no tool refuses'),
    });
  });

  it('reaches the server when it is canceled', async () => {
    const { connection, recorder } = await connectFixture();
    const abort = createAbort();
    const call = callTool(connection, 'slow', {}, abort.signal);
    await recorder.saw('slow started');
    abort.abort('the task was canceled');
    await expect(call).rejects.toMatchObject({ code: 'tool.failed', message: /was canceled/ });
    await recorder.saw('slow canceled');
    expect(await callTool(connection, 'echo', { text: 'still here' })).toEqual({ text: 'still here' });
  });

  it('that takes too long is canceled, and its outcome is not known', async () => {
    const { connection, recorder } = await connectFixture({ callTimeoutMs: 100 });
    await expect(callTool(connection, 'slow')).rejects.toMatchObject({ code: 'tool.outcome_unknown' });
    await recorder.saw('slow canceled');
  });
});

describe('the process of a server', () => {
  it('gets a minimal environment and its arguments as they are', async () => {
    const PATH = process.env.PATH ?? '';
    const { connection } = await connectFixture({
      env: { PATH, OPENAI_API_KEY: 'ours', BASH_FUNC_x: '() { echo; }' },
      spec: {
        type: 'stdio',
        command: process.execPath,
        args: [fixturePath('stdio-server.ts'), '$HOME; echo `id`', 'two words'],
        env: { PLAIN: 'a', KEY: new Secret('b') },
        cwd: import.meta.dirname,
      },
      root: '/plugin',
      dataDir: '/data',
    });
    const { env, cwd, argv } = JSON.parse((await callTool(connection, 'environment')).text);
    expect(env).toMatchObject({ PATH, PLAIN: 'a', KEY: 'b', PLUGIN_ROOT: '/plugin', PLUGIN_DATA: '/data' });
    expect(Object.keys(env)).toHaveLength(5);
    expect([cwd, argv]).toEqual([import.meta.dirname, ['$HOME; echo `id`', 'two words']]);
  });

  it('may write as much to stderr as it likes', async () => {
    const { connection, recorder } = await connectFixture();
    await callTool(connection, 'flood');
    await recorder.saw('flood over');
    const longest = Math.max(...recorder.lines.map(({ line }) => String(line).length));
    expect(longest).toBeLessThan(2100);
  });

  it.each([
    ['a server that ends with its input', 'stdio-server.ts', []],
    ['a server that ignores the end of its input and SIGTERM', 'stdio-server.ts', ['--stubborn']],
    ['a launcher and the stubborn server it started', 'launcher.ts', []],
  ])('is gone after close(): %s', { timeout: 15_000 }, async (_, file, args) => {
    const pidFile = join(temporaryFolder(), 'pids');
    const { connection } = await connectFixture({ file, args, serverEnv: { PID_FILE: pidFile } });
    const pids = recordedPids(pidFile);
    expect(pids.map(isRunning)).toEqual(pids.map(() => true));
    await connection.close();
    await vi.waitFor(() => expect(pids.filter(isRunning)).toEqual([]));
    expect(connection.state).toBe('closed');
    await expect(callTool(connection, 'echo', { text: '' })).rejects.toMatchObject({
      code: 'tool.unavailable',
    });
  });
});
