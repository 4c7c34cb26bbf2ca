import type { Clock } from '../core/base/index.ts';

/** A clock that stands still until it is told to move. Starts at 2026-01-01T00:00:00Z unless told otherwise. */
export class FakeClock implements Clock {
  #now: number;

  /** `start` is in milliseconds since the epoch. */
  constructor(start: number = Date.UTC(2026, 0, 1)) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  /** Moves the time forward. Throws `RangeError` for a negative step: time does not run backwards. */
  advance(ms: number): void {
    if (!(ms >= 0)) throw new RangeError(`a clock cannot be advanced by ${ms} ms`);
    this.#now += ms;
  }

  /** Sets the time, backwards too, as a corrected system clock does. Milliseconds since the epoch. */
  set(time: number): void {
    this.#now = time;
  }
}
