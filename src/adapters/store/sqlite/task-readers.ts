import { type ExpressionBuilder, type Kysely, type SqlBool, sql, type Transaction } from 'kysely';
import type { TaskData, TaskState } from '../../../core/loop/index.ts';
import type { TaskList, TaskListQuery, TaskRow } from '../../../core/persistence/index.ts';
import { mayDo } from '../../../core/security/index.ts';
import { toTask } from './rows.ts';
import type { StoreTables } from './schema.ts';

type Trx = Transaction<StoreTables>;

/** Notes who may read a task: those its data names. */
export async function insertReaders(trx: Trx, task: TaskRow, statusAt: string): Promise<void> {
  const readers = readersOf(task.data);
  if (readers.length === 0) return;
  const { id, state, contextId } = task;
  await trx
    .insertInto('task_readers')
    .values(
      readers.map((reader) => ({ task_id: id, reader, state, status_at: statusAt, context_id: contextId })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Brings the readers of a task up to date with a write: a state that was set at `statusAt`, or other participants. */
export async function updateReaders(
  trx: Trx,
  before: TaskRow,
  after: TaskRow,
  statusAt: string | undefined,
): Promise<void> {
  if (statusAt !== undefined) {
    await trx
      .updateTable('task_readers')
      .set({ state: after.state, status_at: statusAt })
      .where('task_id', '=', after.id)
      .execute();
  }
  if (after.data === before.data || sameReaders(before.data, after.data)) return;
  const { at } = await trx
    .selectFrom('events')
    .select('at')
    .where('task_id', '=', after.id)
    .where('seq', '=', after.statusSeq)
    .executeTakeFirstOrThrow();
  await trx.deleteFrom('task_readers').where('task_id', '=', after.id).execute();
  await insertReaders(trx, after, at);
}

/** One page of a reader's tasks. Every combination of filters but state with context has an index in this order. */
export async function listTasks(db: Kysely<StoreTables>, query: TaskListQuery): Promise<TaskList> {
  const { after, limit } = query;
  const { total } = await db
    .selectFrom('task_readers')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where((eb) => fits(eb, query))
    .executeTakeFirstOrThrow();
  let page = db
    .selectFrom('task_readers')
    .innerJoin('tasks', 'tasks.id', 'task_readers.task_id')
    .selectAll('tasks')
    .select('task_readers.status_at')
    .where((eb) => fits(eb, query));
  if (after !== undefined) {
    page = page.where(
      sql<SqlBool>`(task_readers.status_at, task_readers.task_id) < (${after.statusAt}, ${after.taskId})`,
    );
  }
  const rows = await page
    .orderBy('task_readers.status_at', 'desc')
    .orderBy('task_readers.task_id', 'desc')
    .limit(limit + 1)
    .execute();
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    tasks: rows.slice(0, limit).map(toTask),
    total,
    next: last && { statusAt: last.status_at, taskId: last.id },
  };
}

function fits(eb: ExpressionBuilder<StoreTables, 'task_readers'>, query: TaskListQuery) {
  const { reader, state, contextId, since } = query;
  return eb.and([
    eb('task_readers.reader', '=', reader),
    ...(state === undefined ? [] : [eb('task_readers.state', '=', state satisfies TaskState)]),
    ...(contextId === undefined ? [] : [eb('task_readers.context_id', '=', contextId)]),
    ...(since === undefined ? [] : [eb('task_readers.status_at', '>=', since)]),
  ]);
}

function readersOf(data: TaskData): string[] {
  return data.participants.filter(({ role }) => mayDo(role, 'read')).map(({ id }) => id);
}

function sameReaders(one: TaskData, other: TaskData): boolean {
  return JSON.stringify(readersOf(one)) === JSON.stringify(readersOf(other));
}
