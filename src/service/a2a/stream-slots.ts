/** How many streams of one caller may be open at a time (AS-12). */
export const MAX_STREAMS_PER_CALLER = 64;

/** Counts the open streams of each caller. */
export class StreamSlots {
  readonly #open = new Map<string, number>();
  readonly #most: number;

  constructor(most: number = MAX_STREAMS_PER_CALLER) {
    this.#most = most;
  }

  /** Takes a place for a stream of this caller: the function gives it back. Undefined when there is none. */
  take(caller: string): (() => void) | undefined {
    const open = this.#open.get(caller) ?? 0;
    if (open >= this.#most) return undefined;
    this.#open.set(caller, open + 1);
    let taken = true;
    return () => {
      if (!taken) return;
      taken = false;
      const left = (this.#open.get(caller) ?? 1) - 1;
      if (left === 0) this.#open.delete(caller);
      else this.#open.set(caller, left);
    };
  }
}
