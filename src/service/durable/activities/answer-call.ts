import type { CallInput } from '../../../core/loop/index.ts';
import type { TaskRow } from '../../../core/persistence/index.ts';
import type { ActivityDeps } from './deps.ts';
import { type ResultEffect, toJson } from './effects.ts';
import { resultKey } from './keys.ts';

/** Keeps what the model reads of a call; returns how far the log is. */
export async function answerCall(
  deps: ActivityDeps,
  task: TaskRow,
  input: CallInput,
  result: ResultEffect,
): Promise<number> {
  const written = await deps.journal.write(task.id, {
    effects: [{ key: resultKey(input), body: toJson(result) }],
  });
  return written.task.log;
}
