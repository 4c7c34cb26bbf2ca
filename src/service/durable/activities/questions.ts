import { HarnessError } from '../../../core/base/index.ts';
import { messageId, questionText } from '../../../core/extensions/index.ts';
import type { OpenQuestion } from '../../../core/loop/index.ts';
import type { LogEntry, QuestionRecord, TaskRow } from '../../../core/persistence/index.ts';
import type { ActivityDeps } from './deps.ts';
import { parentOf } from './sub-tasks.ts';

/** A question that is published. */
export interface Published {
  readonly question: OpenQuestion;
  /** Sequence of its entry in the task's own log. */
  readonly log: number;
}

/**
 * Publishes a question once, on its task and on every task above it (ST-3): stored, then delivered (PC-2). Called again
 * with the same key it finds what is published, and delivers again.
 */
export async function publishQuestion(
  deps: ActivityDeps,
  task: TaskRow,
  entryKey: string,
  exchange: number,
  record: QuestionRecord,
): Promise<Published> {
  const own = await publishOn(deps, task, entryKey, exchange, record);
  if (own === undefined) throw new HarnessError('task.ended', `task ${task.id} has ended and asks nothing`);
  const stands = own.body.kind === 'question' ? own.body.question : record;
  const id = messageId.help(task.id, own.seq);
  const surfaced = await surface(deps, task, id, stands);
  deps.failpoint('channel.stored');
  await deps.channels.deliver(task, {
    id,
    text: questionText(stands),
    question: stands,
    to: stands.participantIds,
  });
  const { participantIds, expiresAt, approval } = stands;
  return {
    log: own.seq,
    question: {
      id,
      participantIds,
      surfaced,
      ...(expiresAt === null ? {} : { expiresAt: Date.parse(expiresAt) }),
      ...(approval ? { approval: { callId: approval.callId, argumentsHash: approval.argumentsHash } } : {}),
    },
  };
}

/** Puts a sub-task's question on the tasks above it; returns its ids there, the parent's first. */
async function surface(
  deps: ActivityDeps,
  task: TaskRow,
  questionId: string,
  record: QuestionRecord,
): Promise<string[]> {
  const ids: string[] = [];
  let below = { taskId: task.id, questionId };
  for (let above = await parentOf(deps, task); above; above = await parentOf(deps, above)) {
    const text = `Sub-task "${task.data.name}" asks: ${record.text}`;
    const entry = await publishOn(deps, above, `question:${task.id}:${questionId}`, 0, {
      ...record,
      text,
      origin: below,
    });
    if (entry === undefined) break;
    below = { taskId: above.id, questionId: messageId.help(above.id, entry.seq) };
    ids.push(below.questionId);
  }
  return ids;
}

/** The stored entry of a question; undefined when the task has ended without it. */
async function publishOn(
  deps: ActivityDeps,
  task: TaskRow,
  entryKey: string,
  exchange: number,
  question: QuestionRecord,
): Promise<LogEntry | undefined> {
  const written = await deps.journal.write(task.id, {
    entries: [{ key: entryKey, exchange, body: { kind: 'question', question } }],
  });
  return written.entries.find((entry) => entry.key === entryKey);
}
