import type { AbortSignalLike, JsonValue } from '../base/index.ts';
import { Backlog } from './backlog.ts';
import type { EventBus, JournalEvent, TextDelta } from './bus.ts';
import type { LogEntry } from './records.ts';
import type { AdmissionWrite, Admitted, TaskStore, TaskWrite, TaskWritten } from './store.ts';

/** What the journal needs of a redactor (SE-2). */
export interface JournalRedactor {
  redact<T extends JsonValue>(value: T): T;
  stream(): { push(piece: string): string; end(): string };
}

/** Announces a text while it is generated. */
export interface TextWriter {
  write(piece: string): void;
  /** Announces what was held back; to be called when the text is whole. */
  end(): void;
}

/** How many entries a reader that catches up takes from the log at once. */
const PAGE = 200;

/**
 * The store and the bus as one: what is written is redacted first, and announced once it is stored. Readers catch up
 * from the log and go on with the bus, without gap or repeat.
 */
export class Journal {
  readonly store: TaskStore;
  readonly #bus: EventBus;
  readonly #redactor: JournalRedactor;
  #writers = 0;

  constructor(store: TaskStore, bus: EventBus, redactor: JournalRedactor) {
    this.store = store;
    this.#bus = bus;
    this.#redactor = redactor;
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

  /** For the text of one turn as the model produces it; whoever does not listen now never sees it. */
  text(taskId: string, turn: Pick<TextDelta, 'exchange' | 'turn'>): TextWriter {
    const redacted = this.#redactor.stream();
    this.#writers += 1;
    const writer = this.#writers;
    let first = true;
    const announce = (text: string): void => {
      if (text === '') return;
      this.#bus.publish(taskId, { kind: 'delta', delta: { ...turn, text, first, writer } });
      first = false;
    };
    return {
      write: (piece) => announce(redacted.push(piece)),
      end: () => announce(redacted.end()),
    };
  }

  /**
   * Every durable entry after `after`, in order, then live: entries as they are written, and text deltas in between.
   * Ends when the signal aborts. Entries are never skipped; text is, unless the reader has all of it from its first
   * piece on, and once its whole is in the log, or once a later attempt has begun: what one that was thought lost still
   * says is nobody's. Subscribes at the first `next()`, before anything is awaited.
   */
  async *follow(
    taskId: string,
    after: number,
    signal: AbortSignalLike,
  ): AsyncGenerator<JournalEvent, void, undefined> {
    const backlog = new Backlog();
    const unsubscribe = this.#bus.subscribe(taskId, (event) => backlog.push(event));
    // At once, and not when somebody asks for the next event: a reader that went away may never ask again.
    const onAbort = () => {
      unsubscribe();
      backlog.clear();
      backlog.wake();
    };
    signal.addEventListener('abort', onAbort);
    let cursor = after;
    let behind = true;
    /** Who wrote the text that this reader has from its first piece on, and the latest of whom it has heard. */
    let reading: number | undefined;
    let latest = 0;
    const said = new Set<string>();
    try {
      while (!signal.aborted) {
        if (backlog.takeLoss()) {
          reading = undefined;
          behind = true;
        }
        if (behind) {
          const page = await this.store.log(taskId, { after: cursor, upTo: cursor + PAGE });
          // The log has no gaps: a page that is not full was the last one.
          behind = page.length === PAGE;
          for (const entry of page) {
            if (signal.aborted) return;
            cursor = entry.seq;
            noteSaid(said, entry);
            yield { kind: 'entry', entry };
          }
          continue;
        }
        const event = backlog.shift();
        if (event === undefined) {
          await backlog.filled();
          continue;
        }
        if (event.kind === 'stale') {
          behind = true;
        } else if (event.kind === 'delta') {
          const { exchange, turn, first, writer } = event.delta;
          if (first && writer > latest) {
            latest = writer;
            reading = writer;
          }
          if (writer === reading && !said.has(`${exchange}.${turn}`)) yield event;
        } else if (event.entry.seq === cursor + 1) {
          cursor = event.entry.seq;
          noteSaid(said, event.entry);
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
    return this.#redactor.redact(write as unknown as JsonValue) as unknown as T;
  }
}

/** The whole text of a turn is in the log: pieces of it that come after are stale. Its key ends in exchange and turn. */
function noteSaid(said: Set<string>, { key, body }: LogEntry): void {
  if (body.kind === 'response' || body.kind === 'note') said.add(key.slice(key.indexOf(':') + 1));
}
