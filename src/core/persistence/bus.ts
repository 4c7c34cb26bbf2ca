import type { LogEntry } from './records.ts';

/** A piece of text while it is generated. Not durable: the whole text follows as a `response` entry. */
export interface TextDelta {
  readonly exchange: number;
  readonly turn: number;
  readonly text: string;
  /** True for the first piece of an attempt: what came before it in this exchange is void. */
  readonly first: boolean;
  /** Which attempt of this process it is from. They are numbered as they begin: a later one has taken over. */
  readonly writer: number;
}

/** What a reader of a task gets. */
export type JournalEvent =
  | { readonly kind: 'entry'; readonly entry: LogEntry }
  | { readonly kind: 'delta'; readonly delta: TextDelta };

/** What the bus announces: an event, or that the log may hold entries nobody announced here. */
export type BusEvent = JournalEvent | { readonly kind: 'stale' };

/** Announces what happens to a task, at once, to whoever listens in reach of the bus. May lose; the log does not. */
export interface EventBus {
  publish(taskId: string, event: JournalEvent): void;
  /** Listeners must not throw. Returns the end of the subscription. */
  subscribe(taskId: string, listener: (event: BusEvent) => void): () => void;
}

/**
 * The bus of one process. Where other processes write to the same store, `watch` tells of their writes: it is called
 * when somebody starts to listen, calls back whenever the store may have changed, and returns its own end.
 */
export class LocalBus implements EventBus {
  readonly #listeners = new Map<string, Set<(event: BusEvent) => void>>();
  readonly #watch: ((changed: () => void) => () => void) | undefined;
  #unwatch: (() => void) | undefined;

  constructor(options: { readonly watch?: (changed: () => void) => () => void } = {}) {
    this.#watch = options.watch;
  }

  publish(taskId: string, event: JournalEvent): void {
    for (const listener of this.#listeners.get(taskId) ?? []) listener(event);
  }

  subscribe(taskId: string, listener: (event: BusEvent) => void): () => void {
    const listeners = this.#listeners.get(taskId) ?? new Set();
    this.#listeners.set(taskId, listeners.add(listener));
    this.#unwatch ??= this.#watch?.(() => {
      for (const all of this.#listeners.values()) for (const each of all) each({ kind: 'stale' });
    });
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(taskId);
      if (this.#listeners.size > 0) return;
      this.#unwatch?.();
      this.#unwatch = undefined;
    };
  }
}
