import { exitCodeOfSignal } from './exit-codes.ts';
import { type EndSignal, Interrupted } from './interrupted.ts';

const SIGNALS: readonly EndSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * A signal that aborts with `Interrupted` on the first SIGINT, SIGTERM or SIGHUP, so that a command can end in order. A
 * second one ends the process at once; the embedded Temporal and MCP servers notice that by themselves.
 */
export function endSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(exitCodeOfSignal(signal));
      controller.abort(new Interrupted(signal));
    });
  }
  return controller.signal;
}

/** Waits until the signal aborts; returns why. */
export async function untilAborted(signal: AbortSignal): Promise<unknown> {
  // A signal handler keeps no process alive.
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    if (!signal.aborted) {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    }
    return signal.reason;
  } finally {
    clearInterval(alive);
  }
}
