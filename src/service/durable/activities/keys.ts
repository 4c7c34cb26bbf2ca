import { HarnessError } from '../../../core/base/index.ts';
import type { CallInput, TaskRef, TurnRef } from '../../../core/loop/index.ts';
import type { TaskRow } from '../../../core/persistence/index.ts';
import type { ActivityDeps } from './deps.ts';
import { fromJson, type GateRecord, type ModelEffect } from './effects.ts';

/** Keys of saved effects: an effect is what it is for (task, exchange, turn, call) and is saved once (invariant 1). */
export const key = {
  response: (at: TurnRef) => `response:${at.exchange}.${at.turn}`,
  model: (at: TurnRef) => `model:${at.exchange}.${at.turn}`,
  /** What a tool returned, before its `post` hooks. */
  ran: (at: TurnRef, ordinal: number) => `ran:${at.exchange}.${at.turn}.${ordinal}`,
  /** What the model reads of a call. */
  result: (at: TurnRef, ordinal: number) => `result:${at.exchange}.${at.turn}.${ordinal}`,
  /** What an approved call came to after its turn was read. */
  outcome: (at: TurnRef, ordinal: number) => `outcome:${at.exchange}.${at.turn}.${ordinal}`,
  /** How a request for help was routed (PC-7). */
  help: (at: TurnRef, ordinal: number) => `help:${at.exchange}.${at.turn}.${ordinal}`,
  /** What was decided about a call (PC-12). */
  verdict: (callId: string) => `verdict:${callId}`,
  /** The rule that somebody's "remember" made. */
  remembered: (tool: string) => `remembered:${tool}`,
} as const;

/** Where the result of a call is kept: for the model's own reading order, or apart when its turn was read before. */
export function resultKey(input: CallInput): string {
  return input.late ? key.outcome(input, input.ordinal) : key.result(input, input.ordinal);
}

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

/**
 * The call that an activity is about, as its turn saved it.
 *
 * @throws HarnessError `internal` when the turn has none.
 */
export async function callOf(deps: ActivityDeps, task: TaskRow, input: CallInput): Promise<GateRecord> {
  const saved = await deps.journal.store.effects(task.id, [key.model(input)]);
  const calls = fromJson<ModelEffect>(saved.get(key.model(input)))?.calls;
  const call = calls?.find((each) => each.ordinal === input.ordinal);
  if (call === undefined)
    throw new HarnessError('internal', `task ${task.id} has no call ${key.result(input, input.ordinal)}`);
  return call;
}
