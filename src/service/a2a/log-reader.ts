import type { StreamResponse } from '@a2a-js/sdk';
import type { AdmissionOutcome } from '../../core/channels/index.ts';
import { isInterrupted, isTerminal, type TaskState } from '../../core/loop/index.ts';
import type { Journal, JournalEvent, LogBody, LogEntry, TaskRow } from '../../core/persistence/index.ts';
import { memberOf } from '../../core/security/index.ts';
import type { Call } from './call.ts';
import type { LoopWatch } from './loop-watch.ts';
import type { Projection, View } from './projection.ts';
import { after as afterEntry, type Standing, SUBMITTED } from './standing.ts';

interface Following {
  /** The task as it was when its reader was let in. */
  readonly row: TaskRow;
  /** Who reads. */
  readonly reader: string;
  /** Sequence of the last entry that the reader has. */
  readonly after: number;
  readonly view: View;
  readonly call: Call;
  /** True for the entry with which the stream ends. */
  readonly ends: (entry: LogEntry) => boolean;
  /** What to read; default: the log after `after`. */
  readonly events?: AsyncIterable<JournalEvent>;
}

/** Reads a task's log for a stream: the task as it is, then what follows, in order (AS-6). */
export class LogReader {
  readonly #journal: Journal;
  readonly #projection: Projection;
  readonly #watch: LoopWatch;

  constructor(journal: Journal, projection: Projection, watch: LoopWatch) {
    this.#journal = journal;
    this.#projection = projection;
    this.#watch = watch;
  }

  /** What follows the row's cursor, heard from now on and not from when it is first read; the signal ends it. */
  subscribed(row: TaskRow, signal: AbortSignal): AsyncGenerator<JournalEvent, void, undefined> {
    const source = this.#journal.follow(row.id, row.log, signal);
    const first = source.next();
    first.catch(() => {});
    return (async function* () {
      try {
        for (let next = await first; next.done !== true; next = await source.next()) yield next.value;
      } finally {
        await source.return();
      }
    })();
  }

  async *snapshot(
    row: TaskRow,
    view: View,
    call: Call,
    historyLength?: number,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const task = await this.#projection.task(row, view, { historyLength });
    call.eventId = row.log;
    yield { payload: { $case: 'task', value: task } };
  }

  /** Ends with the entry that `ends`, and before one that takes the reader off the task (PC-10). */
  async *follow({
    row,
    reader,
    after,
    view,
    call,
    ends,
    events = this.#journal.follow(row.id, after, call.signal),
  }: Following): AsyncGenerator<StreamResponse, void, undefined> {
    let standing = await this.#standingAt(row, after);
    for await (const event of this.#watch.over(row.id, events)) {
      if (event.kind === 'delta') {
        const drawn = this.#projection.delta(row, event.delta, view);
        call.eventId = undefined;
        if (drawn) yield drawn;
        continue;
      }
      const { entry } = event;
      const last = ends(entry);
      if (!last && entry.seq > row.log && excludes(entry, reader)) return;
      standing = afterEntry(standing, row.id, entry);
      const drawn = await this.#projection.entry(row, entry, standing, view);
      call.eventId = entry.seq;
      if (drawn) yield drawn;
      if (last) return;
    }
  }

  /** True when what a message caused is over already, as the task's row says. */
  async isSettled(row: TaskRow, outcome: AdmissionOutcome): Promise<boolean> {
    if (outcome.kind !== 'accepted') {
      const entries = await this.#journal.store.log(row.id, {
        kinds: ['command', 'task_data'],
        upTo: row.log,
      });
      return isTerminal(row.state) || entries.some((entry) => settles(entry, outcome));
    }
    const [status] = await this.#journal.store.log(row.id, { after: row.statusSeq - 1, upTo: row.statusSeq });
    return endsExchange(row.state, status?.exchange ?? 0, outcome.exchange);
  }

  /**
   * Waits until what a message caused is over, or for the signal. Returns the task as it was then: somebody else's message
   * may have set it to work again since.
   */
  async untilSettled(outcome: AdmissionOutcome, signal: AbortSignal): Promise<TaskRow> {
    const { task } = outcome;
    if (await this.isSettled(task, outcome)) return task;
    const last = await this.#until(task.id, task.log, signal, (entry) => settles(entry, outcome));
    const now = (await this.#journal.store.task(task.id)) ?? task;
    return last?.body.kind === 'state' ? asOf(now, last, last.body) : now;
  }

  /** Waits for a terminal state, or for the signal. */
  async untilTerminal(row: TaskRow, signal: AbortSignal): Promise<void> {
    await this.#until(
      row.id,
      row.statusSeq - 1,
      signal,
      ({ body }) => body.kind === 'state' && isTerminal(body.state),
    );
  }

  async #until(
    taskId: string,
    after: number,
    signal: AbortSignal,
    reached: (entry: LogEntry) => boolean,
  ): Promise<LogEntry | undefined> {
    for await (const event of this.#watch.over(taskId, this.#journal.follow(taskId, after, signal))) {
      if (event.kind === 'entry' && reached(event.entry)) return event.entry;
    }
    return undefined;
  }

  /** How a task stood after an entry of its log. */
  async #standingAt({ id }: TaskRow, seq: number): Promise<Standing> {
    const { store } = this.#journal;
    const [status] = await store.log(id, { upTo: seq, kinds: ['state'], last: 1 });
    const since = await store.log(id, { after: status?.seq ?? 0, upTo: seq, kinds: ['turn', 'question'] });
    return [...(status ? [status] : []), ...since].reduce(
      (standing, entry) => afterEntry(standing, id, entry),
      SUBMITTED,
    );
  }
}

/**
 * True for the entry with which everything that a message caused is over: the end of its exchange or of a later one
 * (invariant 4), the answer of its command, the change that it made.
 */
export function settles({ key, body, exchange }: LogEntry, outcome: AdmissionOutcome): boolean {
  if (body.kind === 'state') {
    return outcome.kind === 'accepted'
      ? endsExchange(body.state, exchange, outcome.exchange)
      : isTerminal(body.state);
  }
  if (outcome.kind === 'command') return body.kind === 'command' && body.inbox === outcome.key;
  return outcome.kind === 'applied' && key === `data:${outcome.key}`;
}

/** A task as it was when an entry had set its state; its data are those of today. */
function asOf(
  row: TaskRow,
  { seq, at }: LogEntry,
  { state, subState }: Extract<LogBody, { kind: 'state' }>,
): TaskRow {
  return row.statusSeq === seq ? row : { ...row, state, subState, statusSeq: seq, log: seq, updatedAt: at };
}

function endsExchange(state: TaskState, exchange: number, own: number): boolean {
  return isTerminal(state) || (isInterrupted(state) && exchange >= own);
}

function excludes({ body }: LogEntry, reader: string): boolean {
  return body.kind === 'task_data' && memberOf(body.data, reader) === undefined;
}
