/** What breaks around `serve`: one clear line, nothing lost, and it goes on where it can. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { linesOf, processesAbout } from '../cli/program.ts';
import { testFolder } from '../support/harness.ts';
import { type Place, place, run, serve } from './serving.ts';

const NOISE = 'these are not the bytes of a database at all, and there are enough of them to be seen as none';

/** Runs `serve` to its end; the last line of what it says. */
async function refusal(at: Place): Promise<string> {
  const { code, stderr } = await run(['serve', '--config', at.config]);
  expect(code, stderr).toBe(1);
  expect(processesAbout(at.folder)).toEqual([]);
  expect(stderr).not.toMatch(/^ {4}at /m);
  return linesOf(stderr).at(-1) ?? '';
}

describe('a start that cannot be', { timeout: 60_000 }, () => {
  it.each(['/proc/nothing/agent.db', '/sys/agent.db'])(
    'has a store that cannot be made: %s',
    async (store) => {
      expect(await refusal(await place([], { store }))).toMatch(
        /^tiny-harness: cannot open the store .*; set store\.sqlite_path to a file in a folder that can be written$/,
      );
    },
  );

  it('has a damaged store, which stays as it is', async () => {
    const at = await place([]);
    mkdirSync(join(at.folder, 'store'));
    writeFileSync(at.store, NOISE);

    expect(await refusal(at)).toMatch(/cannot open the store .*not a database; the file is damaged/);
    expect(readFileSync(at.store, 'utf8')).toBe(NOISE);
  });

  it('has a store that another process has locked', async () => {
    const at = await place([]);
    mkdirSync(join(at.folder, 'store'));
    const holder = spawn(process.execPath, [
      '--input-type=module',
      '-e',
      `const { default: Database } = await import(${JSON.stringify(import.meta.resolve('better-sqlite3'))});
       new Database(${JSON.stringify(at.store)}).exec('create table t (x); begin exclusive');
       console.log('locked'); setInterval(() => {}, 1000);`,
    ]);
    onTestFinished(() => void holder.kill('SIGKILL'));
    await new Promise((resolve) => holder.stdout.once('data', resolve));

    const { code, stderr } = await run(['serve', '--config', at.config]);
    expect([code, linesOf(stderr).at(-1)]).toEqual([
      1,
      expect.stringMatching(/database is locked; another process holds it locked: end that one/),
    ]);
  });

  it('has a damaged database of Temporal, which stays as it is', async () => {
    const at = await place([]);
    mkdirSync(join(at.folder, 'temporal'));
    writeFileSync(at.database, NOISE);

    expect(await refusal(at)).toMatch(/The embedded Temporal server did not start: .*file is not a database/);
    expect(readFileSync(at.database, 'utf8')).toBe(NOISE);
  });

  it('has a folder of Temporal that cannot be made', async () => {
    expect(await refusal(await place([], { database: '/proc/nothing/temporal.db' }))).toMatch(
      /its folder cannot be used: .*Set temporal\.embedded\.database_path to a file/,
    );
  });

  it('has a port of Temporal that is taken', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as { port: number };

    expect(await refusal(await place([], { embedded: `port = ${port}` }))).toContain(
      `port ${port} on 127.0.0.1 is taken. Set another temporal.embedded.port`,
    );
  });
});

describe('a disk that fills up while it serves', { timeout: 90_000 }, () => {
  it('refuses messages, loses none, and goes on when there is room', async (context) => {
    const disk = testFolder();
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk]);
    if (mounted.status !== 0) return context.skip('a small file system cannot be mounted here');
    onTestFinished(() => void spawnSync('umount', ['-l', disk]));
    const at = await place(() => ({ text: 'Done.' }), { store: join(disk, 'agent.db') });
    const { served, send, url } = await serve(at);
    expect(await send('before').ended).toBe(0);

    fill(disk);
    const refused = await run(['send', 'x'.repeat(60_000), '--url', url, '--participant', 'ada']);
    expect([refused.code, refused.stderr], served.output).toEqual([
      1,
      expect.stringMatching(/cannot admit a message: .*disk is full/),
    ]);

    rmSync(join(disk, 'ballast'));
    const after = send('after');
    expect(await after.ended, after.output + served.output).toBe(0);
    served.child.kill('SIGTERM');
    expect(await served.ended).toBe(0);
    const listed = await run(['tasks', 'list', '--json', '--config', at.config]);
    const tasks = linesOf(listed.stdout).map((line) => JSON.parse(line) as { name: string; state: string });
    expect(tasks.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'after COMPLETED',
      'before COMPLETED',
    ]);
  });
});

/** Leaves no free block. */
function fill(folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(join(folder, 'ballast'), Buffer.alloc(bavail * bsize));
}
