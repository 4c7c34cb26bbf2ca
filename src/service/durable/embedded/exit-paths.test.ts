/** EM-5 with real signals on a real process: whatever ends the harness, no server is left. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { findTemporalCli, startEmbeddedTemporal, type TemporalCli } from './index.ts';
import { isProcessAlive } from './process-alive.ts';

const FIXTURE = fileURLToPath(new URL('./parent.fixture.mjs', import.meta.url));
const GONE_WITHIN_MS = 9_000;

interface Parent {
  readonly process: ChildProcess;
  readonly lines: AsyncIterator<string>;
  readonly exited: Promise<{ code: number | null; signal: string | null }>;
  readonly pid: number;
  readonly supervisorPid: number;
}

vi.setConfig({ testTimeout: 30_000 });

let cli: TemporalCli;
let folder: string;
let databasePath: string;
let reader: Interface | undefined;
const parents: ChildProcess[] = [];

beforeAll(async () => {
  cli = await findTemporalCli({}, { onProgress: () => {} });
}, 180_000);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'embedded-exit-'));
  databasePath = join(folder, 'temporal.db');
});

afterEach(() => {
  reader?.close();
  for (const parent of parents.splice(0)) parent.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** A process of its own, leading its own group as a shell's foreground job does, with a server that is ready. */
async function parent(mode: 'wait' | 'drain' | 'exit' | 'throw' | 'idle', persist = true): Promise<Parent> {
  const child = spawn(process.execPath, [FIXTURE, JSON.stringify({ mode, cli, databasePath, persist })], {
    stdio: ['ignore', 'pipe', mode === 'throw' ? 'ignore' : 'inherit'],
    detached: true,
  });
  parents.push(child);
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  );
  reader = createInterface({ input: child.stdout });
  const lines = reader[Symbol.asyncIterator]();
  const ready = JSON.parse((await lines.next()).value ?? '') as { pid: number; supervisorPid: number };
  return { process: child, lines, exited, ...ready };
}

async function expectNoneLeft({ pid, supervisorPid }: Parent): Promise<void> {
  await vi.waitFor(() => expect([pid, supervisorPid].filter(isProcessAlive)).toEqual([]), GONE_WITHIN_MS);
}

it.for(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const)(
  '%s without a handler leaves no server',
  async (signal) => {
    const harness = await parent('wait');

    harness.process.kill(signal);

    expect(await harness.exited).toEqual({ code: null, signal });
    await expectNoneLeft(harness);
  },
);

it.for(['exit', 'throw', 'idle'] as const)(
  'a host that ends by itself (%s) leaves no server',
  async (mode) => {
    const harness = await parent(mode, false);

    expect(await harness.exited).toEqual({ code: mode === 'throw' ? 1 : 0, signal: null });
    await expectNoneLeft(harness);
  },
);

it('Ctrl-C in a terminal leaves the server to the harness until that has drained', async () => {
  const harness = await parent('drain');

  process.kill(-(harness.process.pid ?? 0), 'SIGINT'); // What a terminal does: the whole foreground group.

  expect((await harness.lines.next()).value).toBe('still serving');
  expect(await harness.exited).toEqual({ code: 0, signal: null });
  await expectNoneLeft(harness);
});

it('SIGTERM with a handler stops the server in order', async () => {
  const harness = await parent('drain');

  harness.process.kill('SIGTERM');

  expect((await harness.lines.next()).value).toBe('still serving');
  expect(await harness.exited).toEqual({ code: 0, signal: null });
  expect([harness.pid, harness.supervisorPid].filter(isProcessAlive)).toEqual([]);
});

it('a start right after a SIGKILL waits for the old server to be gone', async () => {
  const harness = await parent('wait');
  harness.process.kill('SIGKILL');
  await harness.exited;

  const next = await startEmbeddedTemporal({ cli, databasePath });

  expect(isProcessAlive(harness.pid)).toBe(false);
  await next.stop();
});
