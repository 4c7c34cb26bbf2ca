/**
 * The part of the platform's `AbortSignal` that pure code needs. The workflow sandbox has no `AbortSignal`, so the
 * core declares its own; a platform signal satisfies it.
 */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** An abort source for pure code: what `AbortController` is elsewhere. `abort` runs each listener once, in order. */
export function createAbort(): {
  readonly signal: AbortSignalLike;
  readonly abort: (reason: unknown) => void;
} {
  const listeners = new Set<() => void>();
  let aborted = false;
  let reason: unknown;
  return {
    signal: {
      get aborted() {
        return aborted;
      },
      get reason() {
        return reason;
      },
      addEventListener: (_type, listener) => void listeners.add(listener),
      removeEventListener: (_type, listener) => void listeners.delete(listener),
    },
    abort(why) {
      if (aborted) return;
      aborted = true;
      reason = why;
      for (const listener of [...listeners]) listener();
      listeners.clear();
    },
  };
}
