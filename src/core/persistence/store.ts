import type { JsonValue } from '../base/index.ts';
import type { SubState, TaskChange, TaskData, TaskState } from '../loop/index.ts';
import type { InboxRow, LogBody, LogEntry, TaskRow, TranscriptItem, TranscriptRow } from './records.ts';

/** An entry to append; the store gives it its sequence and time, and `task_data` the data as the write leaves it. */
export interface NewEntry {
  readonly key: string;
  readonly exchange: number;
  readonly body: Exclude<LogBody, { kind: 'task_data' }> | { readonly kind: 'task_data' };
}

/**
 * Changes of one task that stand or fall together.
 *
 * With `effect`, the write is a compare-and-set: when that key is stored already nothing of this write is applied and
 * the stored body comes back. A task that has ended takes nothing more: likewise nothing is applied. Entries, transcript
 * items and further effects whose keys are stored already are left as they are.
 */
export interface TaskWrite {
  readonly effect?: { readonly key: string; readonly body: JsonValue };
  /** Further effects, each kept if its key is free. */
  readonly effects?: readonly { readonly key: string; readonly body: JsonValue }[];
  /** Large texts by reference (TL-4). */
  readonly blobs?: readonly { readonly key: string; readonly text: string }[];
  readonly entries?: readonly NewEntry[];
  readonly transcript?: readonly { readonly key: string; readonly item: TranscriptItem }[];
  /** Inbox rows the loop has consumed. */
  readonly consumed?: readonly string[];
  /** Changes of the task's data, applied in order to the data as it is then. */
  readonly changes?: readonly TaskChange[];
  /** A state change; `entry` names the one of `entries` that announces it. */
  readonly state?: { readonly state: TaskState; readonly subState: SubState | null; readonly entry: string };
}

/** What a write left. */
export interface TaskWritten {
  /** False when the compare-and-set found another effect, or the task has ended, and nothing was applied. */
  readonly applied: boolean;
  /** The body stored under `effect.key`. */
  readonly effect?: JsonValue;
  /** The stored entries of all given keys, whoever wrote them, in order of sequence. */
  readonly entries: readonly LogEntry[];
  /** Those of them that this write added. */
  readonly added: readonly LogEntry[];
  readonly task: TaskRow;
}

/** A new task with its first message. */
export interface NewTask {
  readonly id: string;
  readonly contextId: string;
  readonly reporter: string;
  readonly data: TaskData;
}

/** What admission stores in one transaction, before anything is delivered (AS-5). */
export interface AdmissionWrite {
  readonly inbox: Omit<InboxRow, 'receivedAt' | 'consumed'>;
  /** For a first message: the task. */
  readonly task?: NewTask;
  /** For a later one: what it changes of the task's data. */
  readonly changes?: readonly TaskChange[];
  readonly entries?: readonly NewEntry[];
  /** True when no loop needs to have it. */
  readonly consumed?: boolean;
}

export interface Admitted {
  /** False when (sender, message id) was known: `row` is the stored one, whatever its body, and nothing was written. */
  readonly created: boolean;
  readonly row: InboxRow;
  readonly added: readonly LogEntry[];
}

/** A message that a member was not allowed to send, recorded (PC-3). */
export interface RefusalRecord {
  readonly taskId: string;
  readonly sender: string;
  readonly messageId: string;
  readonly reason: string;
}

export interface LogQuery {
  /** Entries with a greater sequence. */
  readonly after?: number;
  readonly upTo?: number;
  readonly kinds?: readonly LogBody['kind'][];
  /** The newest `last` of them; they still come oldest first. */
  readonly last?: number;
}

/** A place in the list of tasks, which is ordered by when the state was set, then by id. */
export interface TaskPlace {
  /** ISO 8601, in UTC with milliseconds. */
  readonly statusAt: string;
  readonly taskId: string;
}

export interface TaskListQuery {
  /** Only tasks that this participant may read. */
  readonly reader: string;
  readonly contextId?: string;
  readonly state?: TaskState;
  /** Only tasks whose state was set then or later; written as `TaskPlace.statusAt`. */
  readonly since?: string;
  /** Goes on behind this place. */
  readonly after?: TaskPlace;
  readonly limit: number;
}

export interface TaskList {
  /** The newest state first. */
  readonly tasks: readonly TaskRow[];
  /** How many tasks fit the query, on all pages. */
  readonly total: number;
  /** The place of the last task; undefined when there are no more. */
  readonly next: TaskPlace | undefined;
}

/**
 * The store of one agent: tasks, their logs, what the model reads, the inbox. Every method is atomic. Reads and writes
 * that fail throw: writes a `StoreWriteError`, reads a `HarnessError` with code `store_unavailable`. One contract suite
 * runs on every implementation.
 */
export interface TaskStore {
  /** The store's own id, given at its creation (DU-13). */
  readonly identity: string;
  /**
   * Reserves a message that is on its way in, for this long at most (milliseconds): true for whoever gets it, of all that
   * use the store at the same time, and for nobody once the row of its key is in the inbox. The row's admission ends it. It
   * is between those who live: a power cut may lose it.
   */
  claim(key: string, forMs: number): Promise<boolean>;
  /** Gives a claim back; that of somebody else stays. */
  release(key: string): Promise<void>;
  admit(write: AdmissionWrite): Promise<Admitted>;
  /** Applies a write. @throws HarnessError `task.not_found` for an unknown task. */
  write(taskId: string, write: TaskWrite): Promise<TaskWritten>;
  task(taskId: string): Promise<TaskRow | undefined>;
  /** One page of the tasks that a participant may read (AS-8). */
  tasks(query: TaskListQuery): Promise<TaskList>;
  /** How many tasks that somebody opened run: they are neither waiting nor over (AS-12). */
  running(reporter: string): Promise<number>;
  log(taskId: string, query?: LogQuery): Promise<readonly LogEntry[]>;
  /** Rows by key, in the order of the keys; unknown ones are left out. */
  inboxRows(keys: readonly string[]): Promise<readonly InboxRow[]>;
  /** Rows that no loop has consumed, oldest first, of tasks that are not terminal. */
  unconsumed(limit: number): Promise<readonly InboxRow[]>;
  effects(taskId: string, keys: readonly string[]): Promise<ReadonlyMap<string, JsonValue>>;
  blob(taskId: string, key: string): Promise<string | undefined>;
  transcript(
    taskId: string,
    range: { readonly after: number; readonly upTo: number },
  ): Promise<readonly TranscriptRow[]>;
  recordRefusal(refusal: RefusalRecord): Promise<void>;
  close(): Promise<void>;
}
