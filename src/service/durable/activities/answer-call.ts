import type { CallInput } from '../../../core/loop/index.ts';
import type { TaskRow } from '../../../core/persistence/index.ts';
import type { ActivityDeps } from './deps.ts';
import { type GateRecord, toJson } from './effects.ts';
import { resultOf } from './gate.ts';
import { resultKey } from './keys.ts';

/** Keeps what the model reads of the call; returns how far the log is. */
export async function answerCall(
  deps: ActivityDeps,
  task: TaskRow,
  input: CallInput,
  call: GateRecord,
  text: string,
  isError: boolean,
): Promise<number> {
  const written = await deps.journal.write(task.id, {
    effects: [{ key: resultKey(input), body: toJson(resultOf(call.name, text, isError)) }],
  });
  return written.task.log;
}
