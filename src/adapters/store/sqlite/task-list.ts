import { type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely';
import type { TaskState } from '../../../core/loop/index.ts';
import type { TaskList, TaskListQuery } from '../../../core/persistence/index.ts';
import { toTask } from './rows.ts';
import type { StoreTables } from './schema.ts';

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
