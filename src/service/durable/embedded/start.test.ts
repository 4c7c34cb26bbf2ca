import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type EmbeddedExit,
  type EmbeddedTemporal,
  type EmbeddedTemporalOptions,
  findTemporalCli,
  startEmbeddedTemporal,
  type TemporalCli,
} from './index.ts';
import { freePort, isPortFree } from './port.ts';
import { isProcessAlive } from './process-alive.ts';

vi.setConfig({ testTimeout: 30_000 });

let cli: TemporalCli;
let folder: string;
let databasePath: string;
const started: EmbeddedTemporal[] = [];

beforeAll(async () => {
  cli = await findTemporalCli({}, { onProgress: () => {} });
}, 180_000);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'embedded-'));
  databasePath = join(folder, 'state', 'temporal.db');
});

afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
});

async function start(options: Partial<EmbeddedTemporalOptions> = {}): Promise<EmbeddedTemporal> {
  const server = await startEmbeddedTemporal({ cli, databasePath, ...options });
  started.push(server);
  return server;
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe('a server that starts (EM-1)', () => {
  it('answers, and leaves no process and a free port when it is stopped', async () => {
    const server = await start();
    expect([isProcessAlive(server.pid), isProcessAlive(server.supervisorPid)]).toEqual([true, true]);

    await server.stop();

    expect([isProcessAlive(server.pid), isProcessAlive(server.supervisorPid)]).toEqual([false, false]);
    expect(await isPortFree(Number(server.address.split(':')[1]))).toBe(true);
    await server.stop();
  });

  it('keeps its files to their owner', async () => {
    await start();

    expect(modeOf(join(folder, 'state'))).toBe('700');
    for (const suffix of ['', '-wal', '-shm', '.log', '.version', '.owner', '.lock', '.lock.pid'])
      expect([suffix, modeOf(databasePath + suffix)]).toEqual([suffix, '600']);
    expect(readFileSync(`${databasePath}.version`, 'utf8').trim()).toBe(cli.version);
  });

  it('starts again on the same file and port right after it was stopped', async () => {
    const port = await freePort();
    const first = await start({ port });
    await first.stop();

    const second = await start({ port });

    expect(second.address).toBe(first.address);
    expect(existsSync(`${databasePath}.owner`)).toBe(true);
  });

  it('writes nothing but its log when nothing is persisted', async () => {
    const server = await start({ persist: false });
    await server.stop();

    expect(existsSync(databasePath)).toBe(false);
    expect(existsSync(`${databasePath}.version`)).toBe(false);
    expect(existsSync(server.logPath)).toBe(true);
  });
});

describe('a server that does not start', () => {
  it('names a port that is taken', async () => {
    const port = await freePort();
    const other = await listen(port);

    await expect(start({ port })).rejects.toMatchObject({
      code: 'temporal.start_failed',
      message: expect.stringContaining(`port ${port} on 127.0.0.1 is taken`),
    });
    other.close();
  });

  it('shows the end of the log', async () => {
    mkdirSync(join(folder, 'state'));
    writeFileSync(databasePath, 'this is not a database at all, and long enough to be seen as none');

    await expect(start()).rejects.toMatchObject({
      code: 'temporal.start_failed',
      message: expect.stringMatching(/ended with 1.*file is not a database/s),
    });
    expect(existsSync(`${databasePath}.owner`)).toBe(false);
  });

  it('names a folder that cannot be used', async () => {
    writeFileSync(join(folder, 'state'), 'a file where the folder should be');

    await expect(start()).rejects.toMatchObject({
      code: 'temporal.start_failed',
      message: expect.stringContaining('its folder cannot be used'),
    });
  });

  it('says why when the CLI cannot be run', async () => {
    const path = join(folder, 'nothing-here');

    await expect(start({ cli: { ...cli, path } })).rejects.toMatchObject({
      code: 'temporal.start_failed',
      message: expect.stringContaining('ENOENT'),
    });
  });

  it('is ended when it does not answer in time', async () => {
    const pidFile = join(folder, 'pid');
    const silent = script(`echo "waiting for nothing"; echo $$ > ${pidFile}; exec sleep 600`);

    await expect(start({ cli: { path: silent, version: '1' }, readyTimeoutMs: 1_000 })).rejects.toMatchObject(
      {
        code: 'temporal.start_failed',
        message: expect.stringMatching(/did not answer within 1 s.*waiting for nothing/s),
      },
    );
    expect(isProcessAlive(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
  });

  it('is ended when its start is aborted', async () => {
    const pidFile = join(folder, 'pid');
    const silent = script(`echo $$ > ${pidFile}; exec sleep 600`);
    const abort = new AbortController();
    const starting = start({ cli: { path: silent, version: '1' }, signal: abort.signal });
    const outcome = expect(starting).rejects.toThrow('enough');
    await vi.waitFor(() => expect(readFileSync(pidFile, 'utf8')).toMatch(/\d\n/), 5_000);

    abort.abort(new Error('enough'));

    await outcome;
    expect(isProcessAlive(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
  });

  it('is refused on the file of another version, and says what to do (EM-3)', async () => {
    await (await start()).stop();

    await expect(start({ cli: { ...cli, version: '99.0.0' } })).rejects.toMatchObject({
      code: 'temporal.start_failed',
      message: expect.stringMatching(/version 99\.0\.0.*temporal\.embedded\.binary_path.*move/s),
    });
  });

  it('is refused on a file whose server runs, by the number of its holder', async () => {
    const first = await start();

    await expect(start()).rejects.toMatchObject({
      code: 'temporal.start_failed',
      message: expect.stringContaining(`in use by process ${process.pid}`),
    });
    expect(isProcessAlive(first.pid)).toBe(true);
  });

  it('takes no notice of an owner file that a crash of the machine has left', async () => {
    mkdirSync(join(folder, 'state'));
    const gone = 2 ** 22 + 1; // More than any process number.
    const owner = { harnessPid: process.pid, serverPid: gone, port: await freePort() };
    writeFileSync(`${databasePath}.owner`, JSON.stringify(owner));

    await start();
  });
});

describe('a server that ends by itself', () => {
  it('is reported once', async () => {
    const server = await start();
    const exit = nextExit(server);

    process.kill(server.pid, 'SIGKILL');

    expect(await exit).toEqual({ code: null, signal: 'SIGKILL' });
    await vi.waitFor(() => expect(isProcessAlive(server.supervisorPid)).toBe(false));
  });

  it('does not outlive its supervisor', async () => {
    const server = await start();
    const exit = nextExit(server);

    process.kill(server.supervisorPid, 'SIGKILL');

    expect(await exit).toEqual({ code: null, signal: 'SIGKILL' });
    await vi.waitFor(() => expect(isProcessAlive(server.pid)).toBe(false));
  });

  it('is not reported when it was stopped', async () => {
    const server = await start({ persist: false });
    const seen = vi.fn();
    server.onExit(seen);

    await server.stop();

    expect(seen).not.toHaveBeenCalled();
  });
});

function nextExit(server: EmbeddedTemporal): Promise<EmbeddedExit> {
  return new Promise((resolve) => server.onExit(resolve));
}

function listen(port: number): Promise<Server> {
  const server = createServer();
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
}

function script(body: string): string {
  const path = join(folder, 'fake-temporal');
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}
