import type { AbortSignalLike } from '../../../core/base/index.ts';

/** Waits, or returns early when the signal aborts. Does not keep the process alive. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms).unref();
    signal.addEventListener('abort', done, { once: true });
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}

/** The core's signal as one of the platform's; `release` stops listening to it. */
export function platformSignal(signal: AbortSignalLike): { signal: AbortSignal; release: () => void } {
  if (signal instanceof AbortSignal) return { signal, release: () => {} };
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  return { signal: controller.signal, release: () => signal.removeEventListener('abort', abort) };
}
