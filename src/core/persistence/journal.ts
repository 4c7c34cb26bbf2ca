import type { AbortSignalLike, JsonValue } from '../base/index.ts';
import type { BusEvent, EventBus, TextDelta } from './bus.ts';
import type { AdmissionWrite, Admitted, TaskStore, TaskWrite, TaskWritten } from './store.ts';

/** Masks secrets in a value of any shape (SE-2). */
export type Redact = <T extends JsonValue>(value: T) => T;

/** How many announced events a slow reader may fall behind before it goes back to the log. */
const READER_BACKLOG = 1000;

/**
 * The store and the bus as one: what is written is redacted first, and announced once it is stored. Readers catch up
 * from the log and go on with the bus, without gap or repeat.
 */
export class Journal {
  readonly store: TaskStore;
  readonly #bus: EventBus;
  readonly #redact: Redact;

  constructor(store: TaskStore, bus: EventBus, redact: Redact) {
    this.store = store;
    this.#bus = bus;
    this.#redact = redact;
  }

  /** Stores what admission found and announces the new entries. */
  async admit(write: AdmissionWrite): Promise<Admitted> {
    const admitted = await this.store.admit(this.#redacted(write));
    this.#announce(admitted.row.taskId, admitted.added);
    return admitted;
  }

  /** Applies a write and announces the entries it added. */
  async write(taskId: string, write: TaskWrite): Promise<TaskWritten> {
    const written = await this.store.write(taskId, this.#redacted(write));
    this.#announce(taskId, written.added);
    return written;
  }

  /** Text as the model produces it; whoever does not listen now never sees it. */
  delta(taskId: string, delta: TextDelta): void {
    this.#bus.publish(taskId, { kind: 'delta', delta });
  }

  /**
   * Every durable entry after `after`, in order, then live: entries as they are written, and text deltas in between.
   * Ends when the signal aborts. `deltas` of a moment the reader was behind are skipped, entries never.
   */
  async *follow(
    taskId: string,
    after: number,
    signal: AbortSignalLike,
  ): AsyncGenerator<BusEvent, void, undefined> {
    let queue: BusEvent[] = [];
    let overflowed = false;
    let wake: () => void = () => {};
    const unsubscribe = this.#bus.subscribe(taskId, (event) => {
      if (queue.length >= READER_BACKLOG) {
        queue = [];
        overflowed = true;
      }
      queue.push(event);
      wake();
    });
    const onAbort = () => wake();
    signal.addEventListener('abort', onAbort);
    let cursor = after;
    let behind = true;
    try {
      while (!signal.aborted) {
        if (behind || overflowed) {
          overflowed = false;
          behind = false;
          for (const entry of await this.store.log(taskId, { after: cursor })) {
            if (signal.aborted) return;
            cursor = entry.seq;
            yield { kind: 'entry', entry };
          }
          continue;
        }
        const event = queue.shift();
        if (event === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve;
            if (queue.length > 0 || signal.aborted) resolve();
          });
          continue;
        }
        if (event.kind === 'delta') {
          yield event;
        } else if (event.entry.seq === cursor + 1) {
          cursor = event.entry.seq;
          yield event;
        } else if (event.entry.seq > cursor) {
          behind = true;
        }
      }
    } finally {
      unsubscribe();
      signal.removeEventListener('abort', onAbort);
    }
  }

  #announce(taskId: string, added: TaskWritten['added']): void {
    for (const entry of added) this.#bus.publish(taskId, { kind: 'entry', entry });
  }

  #redacted<T extends object>(write: T): T {
    return this.#redact(write as unknown as JsonValue) as unknown as T;
  }
}
