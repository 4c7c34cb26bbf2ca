import type { LogEntry } from './records.ts';

/** A piece of text while it is generated. Not durable: the whole text follows as a `response` entry. */
export interface TextDelta {
  readonly exchange: number;
  readonly turn: number;
  readonly text: string;
  /** True for the first piece of an attempt: what came before it in this exchange is void. */
  readonly first: boolean;
}

export type BusEvent =
  | { readonly kind: 'entry'; readonly entry: LogEntry }
  | { readonly kind: 'delta'; readonly delta: TextDelta };

/** Announces what happens to a task, at once, to whoever listens in reach of the bus. May lose; the log does not. */
export interface EventBus {
  publish(taskId: string, event: BusEvent): void;
  /** Listeners must not throw. Returns the end of the subscription. */
  subscribe(taskId: string, listener: (event: BusEvent) => void): () => void;
}

/** The bus of one process. */
export class LocalBus implements EventBus {
  readonly #listeners = new Map<string, Set<(event: BusEvent) => void>>();

  publish(taskId: string, event: BusEvent): void {
    for (const listener of this.#listeners.get(taskId) ?? []) listener(event);
  }

  subscribe(taskId: string, listener: (event: BusEvent) => void): () => void {
    const listeners = this.#listeners.get(taskId) ?? new Set();
    this.#listeners.set(taskId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(taskId);
    };
  }
}
