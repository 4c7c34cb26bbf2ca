// The platform fires a timer at once when its delay does not fit 31 bits.
const LONGEST_MS = 2 ** 31 - 1;

/** A limit on silence: `onExpired` runs when `extend` is not called again in time. */
export class TimeLimit {
  readonly #onExpired: () => void;
  #timer: NodeJS.Timeout | undefined;
  #limitMs = 0;
  #expired = false;

  constructor(onExpired: () => void) {
    this.#onExpired = onExpired;
  }

  /** The limit that passed, in milliseconds; undefined when none did. */
  get expiredAfterMs(): number | undefined {
    return this.#expired ? this.#limitMs : undefined;
  }

  /** Starts over with this limit. */
  extend(limitMs: number): void {
    if (this.#timer !== undefined && limitMs === this.#limitMs) {
      this.#timer.refresh();
      return;
    }
    this.stop();
    this.#limitMs = limitMs;
    this.#timer = setTimeout(
      () => {
        this.#expired = true;
        this.#onExpired();
      },
      Math.min(limitMs, LONGEST_MS),
    );
  }

  /** No limit from now on. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
