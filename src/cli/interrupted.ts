/** The signals that end a command in order. */
export type EndSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Why a command's `AbortSignal` is aborted. */
export class Interrupted extends Error {
  readonly signal: EndSignal;

  constructor(signal: EndSignal) {
    super(`ended by ${signal}`);
    this.name = 'Interrupted';
    this.signal = signal;
  }
}
