import type { BusEvent } from './bus.ts';

/** How many events, and how many bytes of text that is in no log, a slow reader may fall behind. */
const MAX_EVENTS = 1000;
const MAX_TEXT_BYTES = 1024 * 1024;
/** What a character takes at most in memory. */
const CHARACTER_BYTES = 2;

/**
 * What a reader was told and has not read yet. It is bounded: whoever falls too far behind loses all of it, is told so,
 * and goes back to the log.
 */
export class Backlog {
  #events: BusEvent[] = [];
  #textBytes = 0;
  #lost = false;
  #wake: () => void = () => {};

  push(event: BusEvent): void {
    if (event.kind === 'stale' && this.#events.at(-1)?.kind === 'stale') return;
    const textBytes = textBytesOf(event);
    if (this.#events.length >= MAX_EVENTS || this.#textBytes + textBytes > MAX_TEXT_BYTES) {
      this.clear();
      this.#lost = true;
    }
    this.#events.push(event);
    this.#textBytes += textBytes;
    this.#wake();
  }

  shift(): BusEvent | undefined {
    const event = this.#events.shift();
    if (event !== undefined) this.#textBytes -= textBytesOf(event);
    return event;
  }

  /** Whether events were lost since this was asked last. */
  takeLoss(): boolean {
    const lost = this.#lost;
    this.#lost = false;
    return lost;
  }

  /** Resolves when there is something to read, or at `wake`. One reader waits at a time. */
  async filled(): Promise<void> {
    if (this.#events.length > 0) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  wake(): void {
    this.#wake();
  }

  clear(): void {
    this.#events = [];
    this.#textBytes = 0;
  }
}

function textBytesOf(event: BusEvent): number {
  return event.kind === 'delta' ? event.delta.text.length * CHARACTER_BYTES : 0;
}
