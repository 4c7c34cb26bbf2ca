/** EM-5 and EM-6 through `serve`: what ends it leaves nothing behind, and the next one goes on. */
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { ModelReply } from '../../src/testing/index.ts';
import { linesOf, processesAbout } from '../cli/program.ts';
import { processesNaming } from '../support/processes.ts';
import { place, run, serve } from './serving.ts';

describe('a restart on the same files', { timeout: 60_000 }, () => {
  it.each(['SIGTERM', 'SIGKILL'] as const)('goes on with a running task after %s', async (signal) => {
    const asked = Promise.withResolvers<void>();
    let firstRun = true;
    const at = await place((): ModelReply => {
      asked.resolve();
      // The first run never gets an answer; the second one does.
      return firstRun ? { text: 'never', hold: new Promise<void>(() => {}) } : { text: 'Here it is.' };
    });
    const first = await serve(at);
    const sending = first.send('hello');
    await asked.promise;
    const [, task = ''] = await sending.until(/^task (\S+)$/m);
    sending.child.kill('SIGINT');
    await sending.ended;

    // A second signal ends the draining, which would wait for the model.
    first.served.child.kill(signal);
    if (signal === 'SIGTERM') {
      await first.served.until(/draining/);
      first.served.child.kill('SIGTERM');
    }
    await first.served.ended;
    firstRun = false;
    const second = await serve(at);

    await second.served.until(/COMPLETED/);
    expect(second.served.output).toContain(task);
  });

  it('is refused while the first one serves, by its number', async () => {
    const at = await place([]);
    const { served } = await serve(at);

    const { code, stderr } = await run(['serve', '--config', at.config]);

    expect([code, linesOf(stderr)]).toEqual([
      1,
      [expect.stringContaining(`${at.database} is in use by process ${served.child.pid}. Stop that one`)],
    ]);
  });
});

describe('no process is left', { timeout: 60_000 }, () => {
  it.each([
    { signal: 'SIGTERM', ends: 0 },
    { signal: 'SIGINT', ends: 130 },
    { signal: 'SIGKILL', ends: 'SIGKILL' },
  ] as const)('by $signal', async ({ signal, ends }) => {
    const at = await place([]);
    const { served } = await serve(at);
    expect(processesNaming(at.database)).toHaveLength(2); // The server and its supervisor.

    served.child.kill(signal);

    expect(await served.ended).toBe(ends);
    await vi.waitFor(() => expect(processesNaming(at.folder)).toEqual([]), 9_000);
  });

  it('by a start that fails when Temporal runs already', async () => {
    const at = await place([]);
    const tools = join(at.folder, 'tools.mjs');
    writeFileSync(
      tools,
      `const tool = { name: 'app/twice', description: '', inputSchema: { type: 'object' }, annotations: {}, run: () => '' };
       export default [tool, { ...tool }];`,
    );

    const { code, stderr } = await run(['serve', '--config', at.config, '--tools', tools]);

    expect([code, linesOf(stderr).at(-1)]).toEqual([2, expect.stringContaining('app/twice')]);
    expect(existsSync(at.database)).toBe(true);
    expect(processesAbout(at.folder)).toEqual([]);
  });

  it('by a store that cannot be opened, and none was started', async () => {
    const at = await place([]);
    writeFileSync(`${at.folder}/store`, 'a file where the folder of the store should be');

    const { code, stderr } = await run(['serve', '--config', at.config]);

    expect([code, linesOf(stderr).at(-1)]).toEqual([1, expect.stringMatching(/store .*agent\.db/)]);
    expect(existsSync(dirname(at.database))).toBe(false);
    expect(processesAbout(at.folder)).toEqual([]);
  });

  it('by a port that is taken, and none was started', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    const at = await place([], { bind: `127.0.0.1:${port}` });

    const { code, stderr } = await run(['serve', '--config', at.config]);
    taken.close();

    expect([code, linesOf(stderr)]).toEqual([
      2,
      [expect.stringContaining(`cannot listen on 127.0.0.1:${port}`)],
    ]);
    expect(processesAbout(at.folder)).toEqual([]);
  });
});
