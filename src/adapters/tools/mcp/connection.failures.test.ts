import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { recordedPids } from './fixtures/fixture-server.ts';
import {
  callTool,
  connectFixture,
  fixturePath,
  isRunning,
  temporaryFolder,
} from './fixtures/stdio-connection.ts';

function script(code: string, command = process.execPath) {
  return { spec: { type: 'stdio', command, args: ['-e', code], env: {}, cwd: tmpdir() } } as const;
}

describe('a server that does not connect', () => {
  it('names a program that does not exist', async () => {
    await expect(connectFixture(script('', '/no/such/program'))).rejects.toMatchObject({
      code: 'tool.unavailable',
      message: /local\/kitchen \(\/no\/such\/program\) did not connect: .*ENOENT/,
    });
  });

  it('repeats what a process wrote before it ended', async () => {
    const failing = script('console.error("no licence"); process.exit(3)');
    await expect(connectFixture(failing)).rejects.toMatchObject({
      code: 'tool.unavailable',
      message: expect.stringContaining('no licence'),
    });
  });

  it('is given up after its time limit, and leaves no process', async () => {
    const pidFile = join(temporaryFolder(), 'pids');
    const silent = `require('fs').writeFileSync(${JSON.stringify(pidFile)}, process.pid + ''); setInterval(() => {}, 1e6)`;
    await expect(connectFixture({ ...script(silent), connectTimeoutMs: 500 })).rejects.toMatchObject({
      code: 'tool.unavailable',
      message: expect.stringContaining('connecting took over 500 ms'),
    });
    expect(recordedPids(pidFile).filter(isRunning)).toEqual([]);
  });

  it('is given up when it does not list its tools, after the time limit of that', async () => {
    await expect(connectFixture({ args: ['--silent'], listTimeoutMs: 300 })).rejects.toMatchObject({
      code: 'tool.unavailable',
      message: expect.stringContaining('listing its tools took over 300 ms'),
    });
  });

  it('is given up when the signal aborts', async () => {
    const stop = new AbortController();
    const connecting = connectFixture({ ...script('setInterval(() => {}, 1e6)'), signal: stop.signal });
    stop.abort();
    await expect(connecting).rejects.toMatchObject({ code: 'tool.unavailable' });
  });
});

describe('a server that dies', () => {
  it('leaves the outcome of a call open, unless the tool is safe to repeat', async () => {
    const { connection, recorder } = await connectFixture();
    await expect(callTool(connection, 'die')).rejects.toMatchObject({ code: 'tool.outcome_unknown' });
    await recorder.saw('ready');
    await expect(callTool(connection, 'die_reading')).rejects.toMatchObject({ code: 'tool.unavailable' });
  });

  it('answers calls with an error at once while it is down, and works again when it is back', async () => {
    const { connection, recorder } = await connectFixture({ reconnect: { initialMs: 300 } });
    const dying = callTool(connection, 'die').catch(() => {});
    await recorder.saw('down');
    const started = performance.now();
    await expect(callTool(connection, 'echo', { text: '' })).rejects.toMatchObject({
      code: 'tool.unavailable',
      message: 'local/kitchen.echo was not called: its server is down',
    });
    expect(performance.now() - started).toBeLessThan(1000);
    await dying;
    await recorder.saw('ready');
    expect(await callTool(connection, 'echo', { text: 'back' })).toEqual({ text: 'back' });
  });

  it('is not started again by a connection that was closed meanwhile', async () => {
    const pidFile = join(temporaryFolder(), 'pids');
    const { connection, recorder } = await connectFixture({ serverEnv: { PID_FILE: pidFile } });
    await callTool(connection, 'die').catch(() => {});
    await recorder.saw('down');
    await connection.close();
    await vi.waitFor(() => expect(recordedPids(pidFile).filter(isRunning)).toEqual([]));
    expect(connection.state).toBe('closed');
    expect(recorder.lines).not.toContainEqual({ message: 'state', state: 'ready' });
  });
});

describe('a server that dies as soon as it is up', () => {
  it('is started again after longer and longer waits', { timeout: 15_000 }, async () => {
    const waits: number[] = [];
    const fourth = Promise.withResolvers<void>();
    let downAt = 0;
    await connectFixture({
      args: ['--mayfly'],
      reconnect: { initialMs: 50 },
      onState(state) {
        if (state === 'down') downAt = performance.now();
        if (state === 'ready') waits.push(performance.now() - downAt);
        if (waits.length === 4) fourth.resolve();
      },
    });

    await fourth.promise;

    expect(waits.map((wait, at) => wait >= 50 * 2 ** at)).toEqual([true, true, true, true]);
  });
});

describe('a server that hangs', () => {
  it('keeps a call no longer than its time limit, and goes when it is told to', async () => {
    const pidFile = join(temporaryFolder(), 'pids');
    const { connection } = await connectFixture({ serverEnv: { PID_FILE: pidFile }, callTimeoutMs: 300 });
    const [pid = 0] = recordedPids(pidFile);
    process.kill(pid, 'SIGSTOP');

    await expect(callTool(connection, 'fails')).rejects.toMatchObject({ code: 'tool.outcome_unknown' });
    await expect(callTool(connection, 'echo', { text: '' })).rejects.toMatchObject({ code: 'tool.failed' });
    await connection.close();

    expect(isRunning(pid)).toBe(false);
  });

  it('has the time limit of its own entry, when that has one', async () => {
    const { spec } = script('');
    const args = [fixturePath('stdio-server.ts')];
    const { connection } = await connectFixture({ spec: { ...spec, args, timeoutMs: 100 } });

    await expect(callTool(connection, 'slow')).rejects.toMatchObject({ code: 'tool.outcome_unknown' });
  });
});

describe('a tool that changed', () => {
  it('is refused after a restart, the others are not, and it is back when it is as it was', async () => {
    const driftFile = join(temporaryFolder(), 'drift');
    const { connection, recorder } = await connectFixture({ serverEnv: { DRIFT_FILE: driftFile } });
    writeFileSync(driftFile, '');
    await callTool(connection, 'die').catch(() => {});
    await recorder.saw('ready');
    await expect(callTool(connection, 'echo', { text: '' })).rejects.toMatchObject({
      code: 'tool.schema_changed',
    });
    expect(await callTool(connection, 'fails')).toMatchObject({ text: 'no such order' });
    rmSync(driftFile);
    recorder.forget();
    await callTool(connection, 'die').catch(() => {});
    await recorder.saw('ready');
    expect(await callTool(connection, 'echo', { text: 'same' })).toEqual({ text: 'same' });
  });

  it('is refused as soon as the server announces the change', async () => {
    const driftFile = join(temporaryFolder(), 'drift');
    const { connection } = await connectFixture({ serverEnv: { DRIFT_FILE: driftFile } });
    writeFileSync(driftFile, '');
    await callTool(connection, 'announce');
    await expect(callTool(connection, 'echo', { text: '' })).rejects.toMatchObject({
      code: 'tool.schema_changed',
    });
  });
});
