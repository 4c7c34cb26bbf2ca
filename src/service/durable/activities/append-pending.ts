import type { TurnInput, TurnMail, TurnRef } from '../../../core/loop/index.ts';
import type { NewEntry, TaskRow, TaskWrite } from '../../../core/persistence/index.ts';
import type { ActivityDeps } from './deps.ts';
import { fromJson, type ModelEffect, toJson } from './effects.ts';
import { callId, key } from './keys.ts';
import { settled, waitingForApproval } from './run-tool.ts';
import { tellParent } from './sub-tasks.ts';
import { supersededReply } from './superseded-reply.ts';

/** What stands under the key of a turn that was cut before it was saved. */
const INTERRUPTED = { interrupted: true } as const;

/** Results of the turn before, then new messages, in the order in which the model is to read them. */
export async function appendPending(deps: ActivityDeps, task: TaskRow, input: TurnInput): Promise<TaskRow> {
  const unread: TurnRef[] = input.unread ? [input.unread] : [];
  for (const turn of input.interrupted) if (await wasSaved(deps, task.id, turn)) unread.push(turn);
  const transcript: NonNullable<TaskWrite['transcript']>[number][] = [];
  const effects: NonNullable<TaskWrite['effects']>[number][] = [];
  for (const turn of unread) {
    const before = await deps.journal.store.effects(task.id, [key.model(turn)]);
    for (const call of fromJson<ModelEffect>(before.get(key.model(turn)))?.calls ?? []) {
      const effect = key.result(turn, call.ordinal);
      // Kept only where nothing is: a late writer then changes nothing.
      const waits = input.waitingCalls.includes(call.callId);
      effects.push({
        key: effect,
        body: toJson(waits ? waitingForApproval(call) : settled(call, undefined)),
      });
      transcript.push({ key: effect, item: { type: 'result', effect, callId: call.callId } });
    }
  }
  transcript.push(...input.mail.flatMap(transcribed));
  const opens = task.state !== 'WORKING';
  if (!opens && transcript.length === 0 && input.mail.length === 0) return task;
  const { exchange, turn } = input;
  const messages = input.mail.flatMap((each) => (each.type === 'message' ? [each.key] : []));
  const working = `working:${exchange}.${turn}`;
  const entries: NewEntry[] = [
    // A message that came while the model wrote its reply goes on with the exchange; the reply was said nevertheless.
    ...(opens ? [] : await supersededReply(deps, task.id, exchange)),
    ...messages.map((inbox) => ({
      key: `message:${inbox}`,
      exchange,
      body: { kind: 'message' as const, inbox },
    })),
    opens
      ? {
          key: working,
          exchange,
          body: {
            kind: 'state',
            state: 'WORKING',
            subState: null,
            text: null,
            questions: [],
            ...progress(input),
          },
        }
      : {
          key: `turn:${exchange}.${turn}`,
          exchange,
          body: { kind: 'turn', questions: input.openQuestions, ...progress(input) },
        },
  ];
  const written = await deps.journal.write(task.id, {
    entries,
    effects,
    transcript,
    consumed: messages,
    ...(opens ? { state: { state: 'WORKING', subState: null, entry: working } } : {}),
  });
  if (opens) await tellParent(deps, written.task, { state: 'WORKING', subState: null, entry: working });
  return written.task;
}

function progress({ turn, tokensTotal, costTotal }: TurnInput): {
  turn: number;
  tokens: number;
  cost: number | null;
} {
  return { turn, tokens: tokensTotal, cost: costTotal };
}

/** A row of the conversation for what came in; none for what the model need not read. */
function transcribed(each: TurnMail): NonNullable<TaskWrite['transcript']>[number][] {
  switch (each.type) {
    case 'message': {
      if (each.silent) return [];
      const { key: inbox, answers } = each;
      return [{ key: `message:${inbox}`, item: { type: 'message', inbox, ...(answers ? { answers } : {}) } }];
    }
    case 'child':
      return [{ key: `child:${each.taskId}`, item: each }];
    case 'expired':
      return [{ key: `expired:${each.questionId}`, item: { type: 'expired', question: each.questionId } }];
    case 'outcome': {
      const effect = key.outcome(each.call, each.call.ordinal);
      return [
        { key: effect, item: { type: 'outcome', effect, callId: callId(each.call, each.call.ordinal) } },
      ];
    }
  }
}

/**
 * Takes the key of a turn that was cut, so that whoever still works on it saves nothing. True when it was saved before:
 * then it stands, and the model reads it and that its calls were stopped.
 */
async function wasSaved(deps: ActivityDeps, taskId: string, turn: TurnRef): Promise<boolean> {
  const taken = await deps.journal.write(taskId, { effect: { key: key.model(turn), body: INTERRUPTED } });
  return !taken.applied && fromJson<ModelEffect>(taken.effect)?.calls !== undefined;
}
