import type { Transaction } from 'kysely';
import type { TaskData } from '../../../core/loop/index.ts';
import type { TaskRow } from '../../../core/persistence/index.ts';
import { mayDo } from '../../../core/security/index.ts';
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

function readersOf(data: TaskData): string[] {
  return data.participants.filter(({ role }) => mayDo(role, 'read')).map(({ id }) => id);
}

function sameReaders(one: TaskData, other: TaskData): boolean {
  return JSON.stringify(readersOf(one)) === JSON.stringify(readersOf(other));
}
