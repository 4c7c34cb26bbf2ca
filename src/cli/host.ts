import type { Harness, Listening } from '../service/harness/index.ts';
import { withProgress } from './progress.ts';

/** A harness that serves; `Symbol.asyncDispose` drains and stops it. */
export type Hosted = Listening & AsyncDisposable;

/**
 * Opens the port, then starts the harness: a port that is taken is found before Temporal runs. When the signal aborts
 * on the way, what has started is stopped before this rejects with the signal's reason.
 */
export async function hostHarness(harness: Harness, signal: AbortSignal): Promise<Hosted> {
  await using undo = new AsyncDisposableStack();
  const listening = await harness.listen();
  undo.defer(() => listening.close());
  undo.defer(() => harness.stop());
  await withProgress('starting', process.stderr, () => harness.start({ signal }));
  const done = undo.move();
  return { ...listening, [Symbol.asyncDispose]: () => done.disposeAsync() };
}
