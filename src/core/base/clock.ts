/** The time, injected: pure code reads no clock. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}
