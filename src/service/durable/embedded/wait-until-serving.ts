import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { messageOf } from '../../../core/base/index.ts';
import { isPortServed } from './port.ts';

const POLL_MS = 20;
const CALL_TIMEOUT_MS = 1_000;

/**
 * Resolves once the frontend on the port answers for the namespace. Rejects with the signal's reason when that aborts;
 * it has no limit of its own.
 */
export async function waitUntilServing(port: number, namespace: string, signal: AbortSignal): Promise<void> {
  // A gRPC channel backs off for a second after a refused connection, so the port is watched first.
  while (!(await isPortServed(port))) await sleep(POLL_MS, undefined, { signal });
  const connection = Connection.lazy({ address: `127.0.0.1:${port}` });
  try {
    for (;;) {
      signal.throwIfAborted();
      const failed = await connection
        .withDeadline(Date.now() + CALL_TIMEOUT_MS, () =>
          connection.workflowService.describeNamespace({ namespace }),
        )
        .then(() => undefined, messageOf);
      if (failed === undefined) return;
      await sleep(POLL_MS, undefined, { signal });
    }
  } finally {
    await connection.close();
  }
}
