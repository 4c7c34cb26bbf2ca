import { randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import { Kysely, SqliteDialect, sql, type Transaction } from 'kysely';
import {
  type Clock,
  HarnessError,
  type JsonValue,
  messageOf,
  StoreWriteError,
} from '../../../core/base/index.ts';
import { applyChanges, isTerminal, type TaskData } from '../../../core/loop/index.ts';
import type {
  AdmissionWrite,
  Admitted,
  InboxRow,
  LogBody,
  LogEntry,
  LogQuery,
  NewEntry,
  RefusalRecord,
  TaskList,
  TaskListQuery,
  TaskRow,
  TaskStore,
  TaskWrite,
  TaskWritten,
  TranscriptRow,
} from '../../../core/persistence/index.ts';
import { claim, release } from './claims.ts';
import { openDatabase } from './open.ts';
import { toEntry, toInbox, toTask, toTranscript } from './rows.ts';
import type { StoreTables } from './schema.ts';
import { withStatementCache } from './statement-cache.ts';
import { listTasks } from './task-list.ts';
import { insertReaders, updateReaders } from './task-readers.ts';
import { effectsOf, entriesOf, insertEffects, insertTranscript, lockTask, saveTask } from './task-rows.ts';

type Trx = Transaction<StoreTables>;

/** How often the file is looked at for commits of other processes. */
const WATCH_MS = 25;

/** The store of one agent in one SQLite file (SR-1). Open it with `SqliteStore.open`. */
export class SqliteStore implements TaskStore {
  readonly identity: string;
  readonly #db: Kysely<StoreTables>;
  readonly #raw: Database.Database;
  readonly #watches = new Set<NodeJS.Timeout>();
  readonly #clock: Clock;
  /** Who this store is among those that have the file open. */
  readonly #owner = randomUUID();

  private constructor(database: Database.Database, identity: string, clock: Clock) {
    this.identity = identity;
    this.#raw = database;
    this.#clock = clock;
    this.#db = new Kysely<StoreTables>({
      dialect: new SqliteDialect({ database: withStatementCache(database) }),
    });
  }

  /**
   * Opens or makes the file.
   *
   * @throws HarnessError `store.foreign`, `store.schema_newer`, `store_unavailable`.
   */
  static open(path: string, clock: Clock = { now: Date.now }): SqliteStore {
    const { database, identity } = openDatabase(path);
    return new SqliteStore(database, identity, clock);
  }

  claim(key: string, forMs: number): Promise<boolean> {
    const now = this.#clock.now();
    return this.#unsynced('claim a message', (db) =>
      claim(db, { key, owner: this.#owner, now, until: now + forMs }),
    );
  }

  release(key: string): Promise<void> {
    return this.#unsynced('release a message', (db) => release(db, { key, owner: this.#owner }));
  }

  admit(write: AdmissionWrite): Promise<Admitted> {
    return this.#writing('admit a message', async (trx) => {
      const { inbox } = write;
      const at = this.#time();
      const inserted = await trx
        .insertInto('inbox')
        .values({
          key: inbox.key,
          task_id: inbox.taskId,
          sender: inbox.sender,
          sender_kind: inbox.senderKind,
          message_id: inbox.messageId,
          body_hash: inbox.bodyHash,
          message: JSON.stringify(inbox.message),
          mail: JSON.stringify(inbox.mail),
          received_at: at,
          consumed: write.consumed ? 1 : 0,
        })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      const row = toInbox(
        await trx.selectFrom('inbox').selectAll().where('key', '=', inbox.key).executeTakeFirstOrThrow(),
      );
      if (inserted.numInsertedOrUpdatedRows === 0n) return { created: false, row, added: [] };
      await trx.deleteFrom('claims').where('key', '=', inbox.key).execute();
      const { task } = write;
      if (task === undefined)
        return { created: true, row, added: await this.#change(trx, inbox.taskId, write) };
      await trx
        .insertInto('tasks')
        .values({
          id: task.id,
          context_id: task.contextId,
          reporter: task.reporter,
          state: 'SUBMITTED',
          sub_state: null,
          status_seq: 1,
          data: JSON.stringify(task.data),
          created_at: at,
          updated_at: at,
        })
        .execute();
      const stored = await lockTask(trx, task.id);
      const added = await this.#append(trx, stored, write.entries ?? [], stored.data);
      await saveTask(trx, { ...stored, log: added.at(-1)?.seq ?? 0 });
      await insertReaders(trx, stored, added[0]?.at ?? at);
      return { created: true, row, added };
    });
  }

  write(taskId: string, write: TaskWrite): Promise<TaskWritten> {
    return this.#writing(`write task ${taskId}`, async (trx) => {
      const task = await lockTask(trx, taskId);
      const held = write.effect && (await effectsOf(trx, taskId, [write.effect.key])).get(write.effect.key);
      if (held !== undefined || isTerminal(task.state)) {
        const entries = await entriesOf(trx, taskId, write.entries ?? []);
        return { applied: false, entries, added: [], task, ...(held === undefined ? {} : { effect: held }) };
      }
      const data = changed(task, write.changes);
      const added = await this.#append(trx, task, write.entries ?? [], data);
      await insertEffects(trx, taskId, [...(write.effect ? [write.effect] : []), ...(write.effects ?? [])]);
      for (const blob of write.blobs ?? []) {
        await trx
          .insertInto('blobs')
          .values({ task_id: taskId, ...blob })
          .onConflict((c) => c.doNothing())
          .execute();
      }
      if (write.consumed && write.consumed.length > 0) {
        await trx.updateTable('inbox').set({ consumed: 1 }).where('key', 'in', write.consumed).execute();
      }
      const announced = added.find((entry) => entry.key === write.state?.entry);
      const next: TaskRow = {
        ...task,
        data,
        ...(write.state && announced
          ? { state: write.state.state, subState: write.state.subState, statusSeq: announced.seq }
          : {}),
        updatedAt: added.at(-1)?.at ?? task.updatedAt,
        log: added.at(-1)?.seq ?? task.log,
        transcript: await insertTranscript(trx, task, write.transcript ?? []),
      };
      await saveTask(trx, next);
      await updateReaders(trx, task, next, write.state && announced?.at);
      const entries =
        added.length === (write.entries?.length ?? 0)
          ? added
          : await entriesOf(trx, taskId, write.entries ?? []);
      return {
        applied: true,
        entries,
        added,
        task: next,
        ...(write.effect ? { effect: write.effect.body } : {}),
      };
    });
  }

  async task(taskId: string): Promise<TaskRow | undefined> {
    const row = await this.#reading((db) =>
      db.selectFrom('tasks').selectAll().where('id', '=', taskId).executeTakeFirst(),
    );
    return row && toTask(row);
  }

  tasks(query: TaskListQuery): Promise<TaskList> {
    // Page and total are of one moment.
    return this.#reading((db) => db.transaction().execute((trx) => listTasks(trx, query)));
  }

  async running(reporter: string): Promise<number> {
    const { count } = await this.#reading((db) =>
      db
        .selectFrom('tasks')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('reporter', '=', reporter)
        // As the index says it.
        .where('state', 'in', [sql.lit('SUBMITTED'), sql.lit('WORKING')])
        .executeTakeFirstOrThrow(),
    );
    return count;
  }

  async log(taskId: string, query: LogQuery = {}): Promise<readonly LogEntry[]> {
    const { after = 0, upTo, kinds, last } = query;
    const rows = await this.#reading((db) => {
      let select = db.selectFrom('events').selectAll().where('task_id', '=', taskId).where('seq', '>', after);
      if (upTo !== undefined) select = select.where('seq', '<=', upTo);
      if (kinds !== undefined) select = select.where('kind', 'in', kinds);
      return last === undefined
        ? select.orderBy('seq').execute()
        : select.orderBy('seq', 'desc').limit(last).execute();
    });
    const entries = rows.map(toEntry);
    return last === undefined ? entries : entries.reverse();
  }

  async inboxRows(keys: readonly string[]): Promise<readonly InboxRow[]> {
    if (keys.length === 0) return [];
    const rows = await this.#reading((db) =>
      db.selectFrom('inbox').selectAll().where('key', 'in', keys).execute(),
    );
    const byKey = new Map(rows.map((row) => [row.key, toInbox(row)]));
    return keys.flatMap((key) => byKey.get(key) ?? []);
  }

  async unconsumed(limit: number): Promise<readonly InboxRow[]> {
    const rows = await this.#reading((db) =>
      db
        .selectFrom('inbox')
        .innerJoin('tasks', 'tasks.id', 'inbox.task_id')
        .selectAll('inbox')
        .where('inbox.consumed', '=', 0)
        .where('tasks.state', 'not in', ['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED'])
        .orderBy('inbox.received_at')
        .limit(limit)
        .execute(),
    );
    return rows.map(toInbox);
  }

  effects(taskId: string, keys: readonly string[]): Promise<ReadonlyMap<string, JsonValue>> {
    return this.#reading((db) => effectsOf(db, taskId, keys));
  }

  async blob(taskId: string, key: string): Promise<string | undefined> {
    const row = await this.#reading((db) =>
      db
        .selectFrom('blobs')
        .select('text')
        .where('task_id', '=', taskId)
        .where('key', '=', key)
        .executeTakeFirst(),
    );
    return row?.text;
  }

  async transcript(
    taskId: string,
    range: { after: number; upTo: number },
  ): Promise<readonly TranscriptRow[]> {
    const rows = await this.#reading((db) =>
      db
        .selectFrom('transcript')
        .selectAll()
        .where('task_id', '=', taskId)
        .where('n', '>', range.after)
        .where('n', '<=', range.upTo)
        .orderBy('n')
        .execute(),
    );
    return rows.map(toTranscript);
  }

  async recordRefusal(refusal: RefusalRecord): Promise<void> {
    await this.#writing('record a refusal', (trx) =>
      trx
        .insertInto('refusals')
        .values({
          task_id: refusal.taskId,
          sender: refusal.sender,
          message_id: refusal.messageId,
          reason: refusal.reason,
          at: this.#time(),
        })
        .execute(),
    );
  }

  /**
   * Calls back, within 25 ms, after another process has committed to the file. Returns the end of it. Commits of this
   * store's own are not told: it knows of them.
   */
  watch(changed: () => void): () => void {
    let version = this.#raw.pragma('data_version', { simple: true });
    const timer = setInterval(() => {
      const now = this.#raw.pragma('data_version', { simple: true });
      if (now === version) return;
      version = now;
      changed();
    }, WATCH_MS);
    timer.unref();
    this.#watches.add(timer);
    return () => {
      clearInterval(timer);
      this.#watches.delete(timer);
    };
  }

  async close(): Promise<void> {
    for (const timer of this.#watches) clearInterval(timer);
    await this.#db.destroy();
  }

  /** What a later message changes of its task's data. Nothing is left of one that has ended. */
  async #change(trx: Trx, taskId: string, write: AdmissionWrite): Promise<LogEntry[]> {
    if (write.changes === undefined) return [];
    const task = await lockTask(trx, taskId);
    if (isTerminal(task.state)) return [];
    const data = changed(task, write.changes);
    const added = await this.#append(trx, task, write.entries ?? [], data);
    const [log, updatedAt] = [added.at(-1)?.seq ?? task.log, added.at(-1)?.at ?? task.updatedAt];
    await saveTask(trx, { ...task, data, log, updatedAt });
    await updateReaders(trx, task, { ...task, data }, undefined);
    return added;
  }

  async #append(trx: Trx, task: TaskRow, entries: readonly NewEntry[], data: TaskData): Promise<LogEntry[]> {
    const added: LogEntry[] = [];
    let { log: seq, updatedAt: at } = task;
    for (const entry of entries) {
      const now = this.#time();
      const body: LogBody = entry.body.kind === 'task_data' ? { ...entry.body, data } : entry.body;
      // Times are ISO 8601 in UTC: they sort as text.
      if (now > at) at = now;
      const values = {
        task_id: task.id,
        seq: seq + 1,
        key: entry.key,
        kind: entry.body.kind,
        exchange: entry.exchange,
        at,
      };
      const result = await trx
        .insertInto('events')
        .values({ ...values, body: JSON.stringify(body) })
        .onConflict((conflict) => conflict.columns(['task_id', 'key']).doNothing())
        .executeTakeFirst();
      if (result.numInsertedOrUpdatedRows === 0n) continue;
      seq += 1;
      added.push({ seq, key: entry.key, exchange: entry.exchange, at, body });
    }
    return added;
  }

  #time(): string {
    return new Date(this.#clock.now()).toISOString();
  }

  async #reading<T>(read: (db: Kysely<StoreTables>) => Promise<T>): Promise<T> {
    try {
      return await read(this.#db);
    } catch (error) {
      if (error instanceof HarnessError) throw error;
      throw new HarnessError('store_unavailable', `cannot read the store: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  /** Writes without waiting for the disk, on the connection that nobody else has meanwhile. */
  #unsynced<T>(what: string, body: (db: Kysely<StoreTables>) => Promise<T>): Promise<T> {
    return this.#failing(what, () =>
      this.#db.connection().execute(async (db) => {
        // Not by a prepared statement: it takes effect when it is prepared.
        this.#raw.pragma('synchronous = NORMAL');
        try {
          return await body(db);
        } finally {
          this.#raw.pragma('synchronous = FULL');
        }
      }),
    );
  }

  #writing<T>(what: string, body: (trx: Trx) => Promise<T>): Promise<T> {
    return this.#failing(what, () => this.#db.transaction().execute(body));
  }

  async #failing<T>(what: string, write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (error instanceof HarnessError) throw error;
      throw new StoreWriteError(`cannot ${what}: ${messageOf(error)}`, { cause: error });
    }
  }
}

function changed(task: TaskRow, changes: TaskWrite['changes']): TaskData {
  return changes === undefined ? task.data : applyChanges(task.data, changes);
}
