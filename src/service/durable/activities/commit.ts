import { asHarnessError, type ErrorCode } from '../../../core/base/index.ts';
import type { OutboundMessage } from '../../../core/channels/index.ts';
import { questionText, readQuestion, textOf } from '../../../core/extensions/index.ts';
import type { CommitInput, CommitOutput, CutCall, TaskData } from '../../../core/loop/index.ts';
import type { TaskRow } from '../../../core/persistence/index.ts';
import type { Conversations } from './conversation.ts';
import { type ActivityDeps, type Run, scopeOf } from './deps.ts';
import { fromJson, type ModelEffect } from './effects.ts';
import { key, taskOf } from './keys.ts';
import { tellParent } from './sub-tasks.ts';
import { supersededReply } from './superseded-reply.ts';

/**
 * Records a state change the loop decided (invariant 3). A repeated commit finds its entry; one that comes after a
 * terminal state changes nothing and returns the state that stands.
 */
export async function commit(
  deps: ActivityDeps,
  conversations: Conversations,
  input: CommitInput,
  run: Run,
): Promise<CommitOutput> {
  const task = await taskOf(deps, input);
  const { text, status, code } = await statusOf(deps, task, input);
  const written = await deps.journal.write(task.id, {
    entries: [
      ...(input.text.from === 'turn' ? [] : await supersededReply(deps, task.id, input.exchange)),
      ...input.consumed.map((inbox) => ({
        key: `message:${inbox}`,
        exchange: input.exchange,
        body: { kind: 'message' as const, inbox },
      })),
      {
        key: input.key,
        exchange: input.exchange,
        body: {
          kind: 'state',
          state: input.state,
          subState: input.subState,
          text,
          questions: input.questions,
          ...(status ? { messageId: status } : {}),
          ...(code ? { code } : {}),
          turn: input.turn,
          tokens: input.tokensTotal,
          cost: input.costTotal,
        },
      },
    ],
    state: { state: input.state, subState: input.subState, entry: input.key },
    consumed: input.consumed,
  });
  deps.failpoint('commit.saved');
  if (written.applied) {
    deps.report({ kind: 'state', taskId: task.id, state: input.state, exchange: input.exchange });
  }
  if (written.entries.some((entry) => entry.key === input.key)) {
    const { state, subState } = written.task;
    await tellParent(deps, written.task, { state, subState, entry: input.key });
    // Questions went out when they were put.
    if (text && input.text.from !== 'questions')
      await deps.channels.deliver(task, messageTo(written.task, input.key, text));
    await announce(deps, written.task, input, run);
  }
  if (input.subState === null) conversations.forget(task.id);
  return { state: written.task.state, log: written.task.log };
}

/** Tells the hooks. The state is recorded, whatever they say: what they fail with is reported and goes no further. */
async function announce(deps: ActivityDeps, task: TaskRow, input: CommitInput, run: Run): Promise<void> {
  try {
    await deps.hooks.phase('post', {
      operation: 'task.state_changed',
      scope: scopeOf(deps, task, input.exchange, run),
      input: { state: input.state, exchange: input.exchange },
      result: { recorded: true },
    });
  } catch (error) {
    const failure = asHarnessError(error, 'hook.failed');
    deps.report({
      kind: 'failure',
      taskId: task.id,
      activity: 'task.state_changed.post',
      attempt: run.attempt,
      error: failure,
    });
  }
}

function criteriaOf({ acceptanceCriteria }: TaskData): string[] {
  return acceptanceCriteria.length === 0
    ? []
    : ['Done when:', ...acceptanceCriteria.map(({ text }) => `- ${text}`)];
}

/** A reply, or the end, for the people on the task. */
function messageTo(task: TaskRow, entry: string, text: string): OutboundMessage {
  const people = task.data.participants.filter(({ kind }) => kind === 'human');
  return { id: `${task.id}:${entry}`, text, to: people.map(({ id }) => id) };
}

interface StatusText {
  /** Null: there is nothing to say. */
  readonly text: string | null;
  /** Id of a message that was published before and is the status message again. */
  readonly status?: string;
  readonly code?: ErrorCode;
}

async function statusOf(deps: ActivityDeps, task: TaskRow, input: CommitInput): Promise<StatusText> {
  const { text } = input;
  switch (text.from) {
    case 'turn': {
      const saved = await deps.journal.store.effects(task.id, [key.model(text)]);
      return { text: fromJson<ModelEffect>(saved.get(key.model(text)))?.response.text ?? '' };
    }
    case 'questions': {
      const questions = await questionsOf(deps, task.id, input.questions);
      const [only] = questions;
      const joined = questions.map((each) => each.text).join('\n\n');
      // A single question is the status message itself, under the id it was published with.
      return questions.length === 1 && only ? { text: joined, status: only.id } : { text: joined };
    }
    case 'message': {
      const [row] = await deps.journal.store.inboxRows([text.key]);
      return { text: row ? textOf(row.message) : '' };
    }
    case 'goal':
      return { text: [task.data.goal, ...criteriaOf(task.data)].join('\n') };
    case 'forwarded': {
      const tasks = await Promise.all(text.taskIds.map((id) => deps.journal.store.task(id)));
      const names = tasks.flatMap((each) => (each ? [`"${each.data.name}"`] : []));
      return { text: `Passed on to sub-task ${[...new Set(names)].join(', ')}.` };
    }
    case 'nothing':
      return { text: null };
    case 'failure':
      return { text: failureText(text.code, text.message), code: text.code };
    case 'completed_by':
      return { text: `Completed by ${text.participantId}.` };
    case 'canceled':
      return { text: [`Canceled by ${text.by}.`, ...(await cutLines(deps, task.id, text.calls))].join('\n') };
  }
}

async function questionsOf(
  deps: ActivityDeps,
  taskId: string,
  ids: readonly string[],
): Promise<{ id: string; text: string }[]> {
  const found: { id: string; text: string }[] = [];
  for (const id of ids) {
    const question = await readQuestion(deps.journal.store, taskId, id);
    if (question) found.push({ id, text: questionText(question) });
  }
  return found;
}

/** LP-6: the reason a task failed, for a person. */
function failureText(code: ErrorCode, message: string): string {
  return `The agent could not go on: ${message} (${code})`;
}

async function cutLines(deps: ActivityDeps, taskId: string, calls: readonly CutCall[]): Promise<string[]> {
  const lines: string[] = [];
  for (const call of calls) {
    const saved = await deps.journal.store.effects(taskId, [key.model(call)]);
    const name = fromJson<ModelEffect>(saved.get(key.model(call)))?.calls.find(
      (each) => each.ordinal === call.ordinal,
    )?.name;
    lines.push(`${name ?? 'a tool'}: ${call.outcome}`);
  }
  return lines;
}
