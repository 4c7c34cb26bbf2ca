import { readFile, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { HarnessError } from '../../../core/base/index.ts';
import { isPortServed } from './port.ts';
import { isProcessAlive } from './process-alive.ts';
import type { ServerOwner } from './supervisor-protocol.ts';

/** Longer than a supervisor gives its server to stop. */
const WAIT_MS = 10_000;
const POLL_MS = 50;

/**
 * Waits until the server that last ran on a database is gone (EM-5): after a kill of its harness it takes a moment to
 * stop, and two servers on one file destroy it. To be called with the file locked: its harness is gone, or is this one.
 *
 * @throws HarnessError `temporal.start_failed` when it does not stop.
 */
export async function waitForPreviousServer(ownerFile: string, signal?: AbortSignal): Promise<void> {
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const owner = await readOwner(ownerFile);
    if (owner === undefined) return;
    if (!isProcessAlive(owner.serverPid)) break;
    // Process ids are reused, most of all across a container's restart: only one that also serves the port is the server.
    if (Date.now() > deadline) {
      if (await isPortServed(owner.port)) throw notStopping(ownerFile, owner);
      break;
    }
    await sleep(POLL_MS, undefined, { signal });
  }
  await rm(ownerFile, { force: true });
}

async function readOwner(file: string): Promise<ServerOwner | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as ServerOwner;
  } catch {
    return undefined; // Half written by a supervisor that was killed in that moment, before its server was up.
  }
}

function notStopping(ownerFile: string, owner: ServerOwner): HarnessError {
  const database = ownerFile.replace(/\.owner$/, '');
  return new HarnessError(
    'temporal.start_failed',
    `The Temporal database ${database} is in use by the server of an earlier run (process ${owner.serverPid}, port ${owner.port}), which does not stop. End that process, or set another temporal.embedded.database_path.`,
    { details: { database, ...owner } },
  );
}
