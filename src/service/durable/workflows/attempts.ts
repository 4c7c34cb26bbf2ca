import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  isCancellation,
  sleep,
  TimeoutFailure,
  Trigger,
} from '@temporalio/workflow';
import { type AbortSignalLike, ERROR_CODES, type ErrorCode, isJsonObject } from '../../../core/base/index.ts';
import type { Outcome } from '../../../core/loop/index.ts';
import type { Attempt, RetryPolicy } from '../contract/index.ts';

/** How many times in a row the loss of a worker is met by scheduling again (DU-4). */
const LOST_WORKER_BOUND = 20;

/** An endpoint that asks for a longer wait is asked again after this one. */
const LONGEST_WAIT_MS = 10 * 60_000;

/** How long a cut waits for what does not react to it. */
const CUT_PATIENCE_MS = 10_000;

/** What a failed activity means to the one who scheduled it. */
interface Failure {
  /** The worker was lost: no attempt of the policy is used up. */
  readonly lost: boolean;
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
}

/**
 * Calls an activity until it succeeds, is cut, or its policy is used up (DU-4). Each call is one server-side attempt;
 * the waits between them are ours: jittered, exponential, ended by the cut.
 */
export async function withAttempts<T>(
  call: (attempt: Attempt) => Promise<T>,
  policy: RetryPolicy & { readonly lossIsFinal?: boolean },
  signal: AbortSignalLike,
): Promise<Outcome<T>> {
  let lost = 0;
  let number = 1;
  for (;;) {
    try {
      return { kind: 'ok', value: await cutBy(signal, () => call({ number, afterLoss: lost > 0 })) };
    } catch (error) {
      if (signal.aborted && isCancellation(error)) return { kind: 'cut' };
      const failure = classify(error);
      if (failure.lost) {
        if (signal.aborted) return { kind: 'cut' };
        lost += 1;
        if (policy.lossIsFinal || lost >= LOST_WORKER_BOUND)
          return { kind: 'failed', code: failure.code, message: failure.message };
        continue;
      }
      const stop = !failure.retryable || policy.nonRetryable.includes(failure.code);
      if (stop || (policy.maximumAttempts > 0 && number >= policy.maximumAttempts)) {
        return { kind: 'failed', code: failure.code, message: failure.message };
      }
      const asked = Math.min(failure.retryAfterMs ?? Number.NaN, LONGEST_WAIT_MS);
      await waitUnlessCut(Number.isNaN(asked) ? delayBefore(number + 1, policy) : asked, signal);
      if (signal.aborted) return { kind: 'cut' };
      number += 1;
      lost = 0;
    }
  }
}

/** Calls an activity until it succeeds, however long that takes, unless its failure is final. */
export async function untilDone<T>(call: (attempt: Attempt) => Promise<T>, policy: RetryPolicy): Promise<T> {
  let afterLoss = false;
  for (let number = 1; ; number += 1) {
    try {
      return await call({ number, afterLoss });
    } catch (error) {
      const failure = classify(error);
      if (!failure.retryable && !failure.lost) {
        throw ApplicationFailure.nonRetryable(failure.message, failure.code);
      }
      afterLoss = failure.lost;
      await sleep(delayBefore(Math.min(number + 1, 10), policy));
    }
  }
}

/**
 * Runs in a scope that the signal cancels. What was canceled is waited for, since it may finish all the same; one that
 * does not react is given up after a bounded wait (LP-5).
 */
async function cutBy<T>(signal: AbortSignalLike, run: () => Promise<T>): Promise<T> {
  const scope = new CancellationScope({ cancellable: true });
  const patience = new CancellationScope({ cancellable: true });
  const givenUp = new Trigger<never>();
  // Rejected only when somebody races against it.
  void givenUp.then(undefined, () => {});
  const cancel = () => {
    scope.cancel();
    patience
      .run(() => sleep(CUT_PATIENCE_MS))
      .then(
        () => givenUp.reject(new CancelledFailure('given up')),
        () => {},
      );
  };
  if (signal.aborted) throw new CancelledFailure('cut');
  signal.addEventListener('abort', cancel);
  try {
    return await Promise.race([scope.run(run), givenUp]);
  } finally {
    signal.removeEventListener('abort', cancel);
    patience.cancel();
  }
}

async function waitUnlessCut(ms: number, signal: AbortSignalLike): Promise<void> {
  try {
    await cutBy(signal, () => sleep(ms));
  } catch (error) {
    if (!isCancellation(error)) throw error;
  }
}

/** 1 s x 2, capped, each with up to half of itself taken off at random. */
function delayBefore(attempt: number, policy: RetryPolicy): number {
  const exponent = Math.max(0, attempt - 2);
  const full = Math.min(
    policy.initialIntervalMs * policy.backoffCoefficient ** exponent,
    policy.maximumIntervalMs,
  );
  // Inside a workflow this is Temporal's seeded generator: a replay draws the same numbers.
  // oxlint-disable-next-line no-restricted-properties
  return Math.max(1, Math.round(full * (1 - Math.random() / 2)));
}

function classify(error: unknown): Failure {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) {
    // A worker that stopped beating is lost; one that only took too long has failed an attempt.
    const lost = cause.timeoutType === 'HEARTBEAT';
    return {
      lost,
      code: 'worker_unavailable',
      message: `no worker finished it: ${cause.message}`,
      retryable: true,
    };
  }
  // Canceled although nobody here cut it: its worker shut down.
  if (cause instanceof CancelledFailure) {
    return { lost: true, code: 'worker_unavailable', message: 'the worker was shut down', retryable: true };
  }
  if (cause instanceof ApplicationFailure) {
    const code = cause.type ?? '';
    const details = cause.details?.[0];
    const retryAfterMs = isJsonObject(details) ? details.retryAfterMs : undefined;
    return {
      lost: code === 'WorkerShutdown',
      code: isErrorCode(code) ? code : 'internal',
      message: cause.message,
      retryable: cause.nonRetryable !== true,
      ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
    };
  }
  return { lost: false, code: 'internal', message: String(error), retryable: true };
}

function isErrorCode(value: string): value is ErrorCode {
  return value in ERROR_CODES;
}
