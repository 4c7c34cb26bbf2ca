import { HarnessError } from '../../../core/base/index.ts';
import { textOf } from '../../../core/extensions/index.ts';
import type { ForwardInput } from '../../../core/loop/index.ts';
import type { TaskRow } from '../../../core/persistence/index.ts';
import { memberOf } from '../../../core/security/index.ts';
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
  await addSender(deps, task, row.sender, input.to.taskId);
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
    // The task above goes on, whatever the one below makes of it: its question is still there if it has not ended.
    if (error instanceof HarnessError && !error.retryable) return;
    throw error;
  }
}

/** Whoever came onto a task after its sub-task was started is on that too, once they answer it (ST-1). */
async function addSender(deps: ActivityDeps, task: TaskRow, sender: string, childId: string): Promise<void> {
  const member = memberOf(task.data, sender);
  const child = await deps.journal.store.task(childId);
  if (member === undefined || child === undefined || memberOf(child.data, sender)) return;
  await deps.journal.write(childId, {
    changes: [{ kind: 'set', participants: [...child.data.participants, member] }],
    entries: [{ key: `member:${sender}`, exchange: 0, body: { kind: 'task_data' } }],
  });
}
