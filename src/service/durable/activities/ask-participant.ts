import { HarnessError, HookAbort, messageOf } from '../../../core/base/index.ts';
import { messageId } from '../../../core/extensions/index.ts';
import type { HelpDecision } from '../../../core/hooks/index.ts';
import type { CallInput, HelpOutput } from '../../../core/loop/index.ts';
import type { LogEntry, TaskRow } from '../../../core/persistence/index.ts';
import { type ActivityDeps, type Run, scopeOf } from './deps.ts';
import { fromJson, type ModelEffect, toJson } from './effects.ts';
import { resultOf } from './gate.ts';
import { key, taskOf } from './keys.ts';

/**
 * Puts a question to a participant: decides how to reach them (`help.decided`), publishes the question once, and
 * answers the call with its id (PC-4). Repeated, it finds the question it published.
 */
export async function askParticipant(deps: ActivityDeps, input: CallInput, run: Run): Promise<HelpOutput> {
  const task = await taskOf(deps, input);
  const saved = await deps.journal.store.effects(task.id, [key.model(input)]);
  const call = fromJson<ModelEffect>(saved.get(key.model(input)))?.calls.find(
    (each) => each.ordinal === input.ordinal,
  );
  if (call?.request === undefined)
    throw new HarnessError('internal', `task ${task.id} has no call ${key.result(input, input.ordinal)}`);
  const { participantId, question, options, expiresInSeconds } = call.request;
  const scope = scopeOf(deps, task, input.exchange, run);
  const published = (await deps.journal.store.log(task.id, { kinds: ['question'] })).find(
    (entry) => entry.key === questionKey(input),
  );
  if (published) return answerCall(deps, task, input, published);
  let decision: HelpDecision;
  try {
    const proposal: HelpDecision = { route: 'ask', participantId, question, options };
    decision = await deps.hooks.run('help.decided', scope, proposal, { body: (given) => given });
    assertAskable(task, decision);
  } catch (error) {
    if (
      !(error instanceof HookAbort) &&
      !(error instanceof HarnessError && error.code === 'tool.invalid_arguments')
    )
      throw error;
    const written = await deps.journal.write(task.id, {
      effects: [
        {
          key: key.result(input, input.ordinal),
          body: toJson(resultOf(call.name, `error: ${messageOf(error)}`, true)),
        },
      ],
    });
    return { log: written.task.log };
  }
  return publish(deps, task, input, decision, expiresInSeconds);
}

async function publish(
  deps: ActivityDeps,
  task: TaskRow,
  input: CallInput,
  decision: HelpDecision,
  expiresIn: number | undefined,
): Promise<HelpOutput> {
  const { participantId, options, question: text } = decision;
  const expiresAt = expiresIn === undefined ? undefined : deps.clock.now() + expiresIn * 1000;
  const written = await deps.journal.write(task.id, {
    entries: [
      {
        key: questionKey(input),
        exchange: input.exchange,
        body: {
          kind: 'question',
          question: {
            participantId,
            text,
            options,
            expiresAt: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
          },
        },
      },
    ],
  });
  const [entry] = written.entries;
  if (entry === undefined) throw new HarnessError('internal', `task ${task.id} stored no question`);
  return answerCall(deps, task, input, entry);
}

/** Answers the call at once with the id of its question; the answer itself comes as a message (PC-4). */
async function answerCall(
  deps: ActivityDeps,
  task: TaskRow,
  input: CallInput,
  { seq, body }: LogEntry,
): Promise<HelpOutput> {
  if (body.kind !== 'question')
    throw new HarnessError('internal', `entry ${seq} of task ${task.id} is no question`);
  const id = messageId.help(task.id, seq);
  const { participantId, expiresAt } = body.question;
  const result = resultOf(
    'ask_participant',
    `asked ${participantId}; question ${id}. The answer comes as a message.`,
    false,
  );
  await deps.journal.write(task.id, {
    effects: [{ key: key.result(input, input.ordinal), body: toJson(result) }],
  });
  return {
    question: { id, participantId, ...(expiresAt === null ? {} : { expiresAt: Date.parse(expiresAt) }) },
    log: seq,
  };
}

function questionKey(input: CallInput): string {
  return `question:${key.result(input, input.ordinal)}`;
}

function assertAskable(task: TaskRow, decision: HelpDecision): void {
  if (decision.route !== 'ask')
    throw new HarnessError('tool.invalid_arguments', 'only asking is possible here');
  const member = task.data.participants.find((participant) => participant.id === decision.participantId);
  if (member === undefined || member.role === 'assignee') {
    throw new HarnessError(
      'tool.invalid_arguments',
      `"${decision.participantId}" is no participant that can be asked`,
    );
  }
}
