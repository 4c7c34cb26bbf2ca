import { setTimeout as sleep } from 'node:timers/promises';
import {
  Connection,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';

/** The longest wait between two attempts of a call; with it, so many attempts are as patient as the SDK's own, 20 s. */
const LONGEST_RETRY_MS = 1_000;
const ATTEMPTS = 24;

/**
 * Connects as the SDK does, with a `close` that may come while calls are under way. The SDK tries a call again from a
 * timer that nothing cancels; one that fires after the connection was closed throws there, which ends the process. So
 * `close` lets no call wait for another attempt, and waits for those that do.
 */
export async function connectClient(
  options: ConnectionOptions,
): Promise<{ readonly connection: Connection; close(): Promise<void> }> {
  const retries = defaultGrpcRetryOptions({ maxAttempts: ATTEMPTS });
  let closing = false;
  /** When the last of the waiting attempts begins, by the monotonic clock. */
  let lastRetryAt = 0;
  const interceptor = makeGrpcRetryInterceptor({
    retryableDecider: (attempt, status) => !closing && retries.retryableDecider(attempt, status),
    delayFunction: (attempt, status) => {
      const delay = Math.min(retries.delayFunction(attempt, status), LONGEST_RETRY_MS);
      lastRetryAt = Math.max(lastRetryAt, performance.now() + delay);
      return delay;
    },
  });
  const connection = await Connection.connect({ ...options, interceptors: [interceptor] });
  return {
    connection,
    async close() {
      closing = true;
      // Timers of one process fire in order, so this one fires after theirs.
      await sleep(Math.max(0, lastRetryAt - performance.now()) + 1);
      await connection.close();
    },
  };
}
