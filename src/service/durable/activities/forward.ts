import { HarnessError } from '../../../core/base/index.ts';
import { textOf } from '../../../core/extensions/index.ts';
import type { ForwardInput } from '../../../core/loop/index.ts';
import type { ActivityDeps } from './deps.ts';
import { taskOf } from './keys.ts';

/**
 * Hands an answer on to the sub-task that asked (ST-3), as the message of whoever wrote it. One that has ended, or is not
 * waiting for it any more, needs no answer.
 */
export async function forward(deps: ActivityDeps, input: ForwardInput): Promise<void> {
  const task = await taskOf(deps, input);
  const [row] = await deps.journal.store.inboxRows([input.key]);
  if (row === undefined)
    throw new HarnessError('internal', `task ${task.id} has no message ${input.key} to hand on`);
  const { verdict } = row.mail;
  try {
    await deps.admission.admit({
      sender: row.sender,
      senderKind: row.senderKind,
      messageId: `${task.id}:${row.messageId}`,
      taskId: input.to.taskId,
      message: row.message,
      bodyHash: row.bodyHash,
      text: textOf(row.message),
      interrupt: false,
      channel: { channelId: input.to.taskId, inReplyTo: input.to.questionId },
      ...(verdict ? { verdict } : {}),
    });
  } catch (error) {
    if (error instanceof HarnessError && error.code === 'task.ended') return;
    throw error;
  }
}
