import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';

/** How long a call may be silent before Temporal itself is asked whether it is there; and again after as long. */
const SILENCE_MS = 1_500;
/** How long it may take to say that it is. */
const PROBE_MS = 1_000;

/** Temporal itself is not there. */
export class TemporalAwayError extends Error {
  constructor() {
    super('it answers nothing');
    this.name = 'TemporalAwayError';
  }
}

/**
 * The answer of a call that waits for a worker. While it does not come, Temporal is asked whether it is there, so that
 * its absence is told within seconds and not taken for that of a worker (EM-7, DU-11). The call is not taken back: when
 * Temporal returns before the call's deadline, the message is delivered, and sending it again finds that.
 *
 * @throws TemporalAwayError, or what the call throws.
 */
export async function whileAnswering<T>(client: Client, call: Promise<T>): Promise<T> {
  const over = new AbortController();
  const away = untilAway(client, over.signal);
  away.catch(() => {});
  try {
    return await Promise.race([call, away]);
  } finally {
    over.abort();
  }
}

async function untilAway(client: Client, signal: AbortSignal): Promise<never> {
  for (;;) {
    await sleep(SILENCE_MS, undefined, { signal, ref: false });
    const answer = client
      .withDeadline(Date.now() + PROBE_MS, () => client.workflowService.getSystemInfo({}))
      .then(
        () => true,
        () => false,
      );
    // The deadline alone is not enough: between two attempts the SDK does not look at it.
    const isThere = await Promise.race([answer, sleep(PROBE_MS, false, { signal, ref: false })]);
    if (!isThere) throw new TemporalAwayError();
  }
}
