/** EM-3 with real processes: one owner per database file, and the kernel takes care of the dead. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { findTemporalCli, lockDatabase, startEmbeddedTemporal, type TemporalCli } from './index.ts';
import { isProcessAlive } from './process-alive.ts';

const FIXTURE = fileURLToPath(new URL('./parent.fixture.mjs', import.meta.url));

vi.setConfig({ testTimeout: 30_000 });

let cli: TemporalCli;
let folder: string;
let databasePath: string;
const parents: ChildProcess[] = [];

beforeAll(async () => {
  cli = await findTemporalCli({}, { onProgress: () => {} });
}, 180_000);

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'embedded-lock-')));
  databasePath = join(folder, 'temporal.db');
});

afterEach(() => {
  for (const parent of parents.splice(0)) parent.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

interface Said {
  readonly refused?: string;
  readonly pid?: number;
  readonly supervisorPid?: number;
}

/** A process that starts a server on the file, and what it says of that. */
async function starter(path = databasePath): Promise<{ readonly child: ChildProcess; readonly said: Said }> {
  const child = spawn(
    process.execPath,
    [FIXTURE, JSON.stringify({ mode: 'wait', cli, databasePath: path })],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  parents.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, said: JSON.parse((await lines.next()).value ?? '') as Said };
}

const gone = (child: ChildProcess): Promise<unknown> => new Promise((resolve) => child.once('exit', resolve));

describe('a database with an owner', () => {
  it('refuses a second process, which learns whom to stop', async () => {
    const first = await starter();

    const second = await starter();

    expect(second.said.refused).toBe(
      `The Temporal database ${databasePath} is in use by process ${first.child.pid}. Stop that one, or set another temporal.embedded.database_path.`,
    );
    expect(isProcessAlive(first.said.pid ?? 0)).toBe(true);
  });

  it('stays with it while its server is dead', async () => {
    const first = await starter();
    process.kill(first.said.pid ?? 0, 'SIGKILL');
    await vi.waitFor(() => expect(isProcessAlive(first.said.supervisorPid ?? 0)).toBe(false), 5_000);

    expect((await starter()).said.refused).toContain(`in use by process ${first.child.pid}`);
  });

  it('is free at once when the owner was killed', async () => {
    const first = await starter();
    const ended = gone(first.child);
    first.child.kill('SIGKILL');
    await ended;

    const second = await starter();

    expect(second.said.refused).toBeUndefined();
    expect(isProcessAlive(first.said.pid ?? 0)).toBe(false);
  });

  it('is the same file by another name', async () => {
    const first = await starter();
    symlinkSync(folder, `${folder}-link`);
    try {
      const second = await starter(join(`${folder}-link`, 'temporal.db'));
      expect(second.said.refused).toContain(`in use by process ${first.child.pid}`);
    } finally {
      rmSync(`${folder}-link`);
    }
  });
});

describe('the lock of this process', () => {
  it('is kept for several servers after another', async () => {
    const lock = await lockDatabase(databasePath);
    const one = await startEmbeddedTemporal({ cli, databasePath, lock });
    await one.stop();
    expect((await starter()).said.refused).toContain(`in use by process ${process.pid}`);

    const two = await startEmbeddedTemporal({ cli, databasePath, lock });
    await two.stop();
    lock.release();
    lock.release();

    expect((await starter()).said.refused).toBeUndefined();
  });

  it('is refused to this process too, however often it asks', async () => {
    const lock = await lockDatabase(databasePath);

    for (let time = 0; time < 3; time++)
      await expect(lockDatabase(databasePath)).rejects.toThrow(`in use by process ${process.pid}`);
    expect((await starter()).said.refused).toContain(`in use by process ${process.pid}`);
    lock.release();
  });

  it('is given back by a start that failed', async () => {
    const path = join(folder, 'nothing-here');
    await expect(startEmbeddedTemporal({ cli: { ...cli, path }, databasePath })).rejects.toThrow('ENOENT');

    (await lockDatabase(databasePath)).release();
  });

  it('names no holder that is not alive', async () => {
    const lock = await lockDatabase(databasePath);
    writeFileSync(`${databasePath}.lock.pid`, String(2 ** 22 + 1)); // More than any process number.

    expect((await starter()).said.refused).toContain('in use by another process. Stop that one');
    lock.release();
  });

  it('says what is wrong with a lock file of somebody else', async () => {
    writeFileSync(`${databasePath}.lock`, 'these are not the bytes of a lock, and there are enough of them');

    await expect(lockDatabase(databasePath)).rejects.toMatchObject({
      code: 'temporal.start_failed',
      message: expect.stringMatching(/its lock .*temporal\.db\.lock cannot be taken: .*not a database/),
    });
  });
});
