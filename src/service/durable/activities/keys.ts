import { HarnessError } from '../../../core/base/index.ts';
import type { TaskRef, TurnRef } from '../../../core/loop/index.ts';
import type { TaskRow } from '../../../core/persistence/index.ts';
import type { ActivityDeps } from './deps.ts';

/** Keys of saved effects: an effect is what it is for (task, exchange, turn, call) and is saved once (invariant 1). */
export const key = {
  response: (at: TurnRef) => `response:${at.exchange}.${at.turn}`,
  model: (at: TurnRef) => `model:${at.exchange}.${at.turn}`,
  /** What a tool returned, before its `post` hooks. */
  ran: (at: TurnRef, ordinal: number) => `ran:${at.exchange}.${at.turn}.${ordinal}`,
  /** What the model reads of a call. */
  result: (at: TurnRef, ordinal: number) => `result:${at.exchange}.${at.turn}.${ordinal}`,
} as const;

/** The id the model knows a call by; unique in the task whatever ids the provider gives. */
export function callId(at: TurnRef, ordinal: number): string {
  return `call_${at.exchange}_${at.turn}_${ordinal}`;
}

/**
 * The task's row, from the store the task lives in.
 *
 * @throws HarnessError `store_mismatch` before anything is touched (DU-13), `task.not_found`.
 */
export async function taskOf(deps: ActivityDeps, ref: TaskRef): Promise<TaskRow> {
  const { store } = deps.journal;
  if (store.identity !== ref.storeId) {
    throw new HarnessError(
      'store_mismatch',
      `task ${ref.taskId} lives in store ${ref.storeId}, this worker has store ${store.identity}; give all processes of an agent one store`,
    );
  }
  const task = await store.task(ref.taskId);
  if (task === undefined)
    throw new HarnessError('task.not_found', `there is no task ${ref.taskId} in this store`);
  return task;
}
