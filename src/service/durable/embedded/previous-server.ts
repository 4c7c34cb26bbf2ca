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
 * stop, and two servers on one file destroy it.
 *
 * @throws HarnessError `temporal.start_failed` at once when its harness still runs, or when it does not stop.
 */
export async function waitForPreviousServer(ownerFile: string, signal?: AbortSignal): Promise<void> {
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const owner = await readOwner(ownerFile);
    if (owner === undefined) return;
    if (!isProcessAlive(owner.serverPid)) break;
    // Process ids are reused, most of all across a container's restart: only one that also serves the port is the server.
    const serving = await isPortServed(owner.port);
    if (serving && (isProcessAlive(owner.harnessPid) || Date.now() > deadline)) throw inUse(ownerFile, owner);
    if (Date.now() > deadline) break;
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

function inUse(ownerFile: string, owner: ServerOwner): HarnessError {
  const database = ownerFile.replace(/\.owner$/, '');
  return new HarnessError(
    'temporal.start_failed',
    `The Temporal database ${database} is in use by process ${owner.harnessPid} (its server is process ${owner.serverPid}, port ${owner.port}). Stop that one, or set another temporal.embedded.database_path.`,
    { details: { database, ...owner } },
  );
}
