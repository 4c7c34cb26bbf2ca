import type { Kysely, Transaction } from 'kysely';
import { HarnessError, type JsonValue } from '../../../core/base/index.ts';
import type { LogEntry, NewEntry, TaskRow, TaskWrite } from '../../../core/persistence/index.ts';
import { toEffect, toEntry, toTask } from './rows.ts';
import type { StoreTables } from './schema.ts';

// The rows of one task, as the store's transactions read and write them.

type Trx = Transaction<StoreTables>;

/** Reads the task with the file's write lock held from here to the end of the transaction. */
export async function lockTask(trx: Trx, taskId: string): Promise<TaskRow> {
  const row = await trx
    .updateTable('tasks')
    .set((eb) => ({ log: eb.ref('log') }))
    .where('id', '=', taskId)
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) throw new HarnessError('task.not_found', `there is no task ${taskId} in this store`);
  return toTask(row);
}

/** Writes what of a task's row may change. */
export async function saveTask(trx: Trx, task: TaskRow): Promise<void> {
  await trx
    .updateTable('tasks')
    .set({
      state: task.state,
      sub_state: task.subState,
      status_seq: task.statusSeq,
      data: JSON.stringify(task.data),
      updated_at: task.updatedAt,
      log: task.log,
      transcript: task.transcript,
    })
    .where('id', '=', task.id)
    .execute();
}

/** Keeps each effect whose key is free. */
export async function insertEffects(
  trx: Trx,
  taskId: string,
  effects: NonNullable<TaskWrite['effects']>,
): Promise<void> {
  for (const effect of effects) {
    await trx
      .insertInto('effects')
      .values({ task_id: taskId, key: effect.key, body: JSON.stringify(effect.body) })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

/** Appends the items whose keys are new and returns the position of the last row. */
export async function insertTranscript(
  trx: Trx,
  task: TaskRow,
  items: NonNullable<TaskWrite['transcript']>,
): Promise<number> {
  let n = task.transcript;
  for (const { key, item } of items) {
    const result = await trx
      .insertInto('transcript')
      .values({ task_id: task.id, n: n + 1, key, item: JSON.stringify(item) })
      .onConflict((conflict) => conflict.columns(['task_id', 'key']).doNothing())
      .executeTakeFirst();
    if (result.numInsertedOrUpdatedRows !== 0n) n += 1;
  }
  return n;
}

/** The saved effects of these keys; unknown ones are left out. */
export async function effectsOf(
  db: Kysely<StoreTables>,
  taskId: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, JsonValue>> {
  if (keys.length === 0) return new Map();
  const rows = await db
    .selectFrom('effects')
    .selectAll()
    .where('task_id', '=', taskId)
    .where('key', 'in', keys)
    .execute();
  return new Map(rows.map((row) => [row.key, toEffect(row)]));
}

/** The stored entries of the keys of these, in order of sequence. */
export async function entriesOf(trx: Trx, taskId: string, entries: readonly NewEntry[]): Promise<LogEntry[]> {
  if (entries.length === 0) return [];
  const keys = entries.map((entry) => entry.key);
  const rows = await trx
    .selectFrom('events')
    .selectAll()
    .where('task_id', '=', taskId)
    .where('key', 'in', keys)
    .orderBy('seq')
    .execute();
  return rows.map(toEntry);
}
