import { HarnessError } from '../../../core/base/index.ts';
import type { HelpDecision } from '../../../core/hooks/index.ts';
import type { CallInput, HelpOutput } from '../../../core/loop/index.ts';
import type { TaskRow } from '../../../core/persistence/index.ts';
import type { HelpRequest } from '../../../core/tools/index.ts';
import { answerCall } from './answer-call.ts';
import { authorize } from './approval.ts';
import { type ActivityDeps, type Run, scopeOf } from './deps.ts';
import { fromJson, type GateRecord, toJson } from './effects.ts';
import { isModelsFault, refusalOf, resultOf } from './gate.ts';
import { decideHelp, objectionTo } from './help-decision.ts';
import { callOf, key, taskOf } from './keys.ts';
import { publishQuestion } from './questions.ts';
import { createSubtask } from './spawn-subtask.ts';
import type { Spending } from './spending.ts';

/**
 * Gets help from a participant: decides whether they are asked or given a task (`help.decided`, PC-7), does it once, and
 * answers the call at once; the answer itself comes as a message (PC-4, PC-6). Repeated, it finds what it did.
 */
export async function requestHelp(deps: ActivityDeps, input: CallInput, run: Run): Promise<HelpOutput> {
  const task = await taskOf(deps, input);
  const call = await callOf(deps, task, input);
  if (call.request?.command !== 'help') {
    throw new HarnessError('internal', `call ${call.callId} of task ${task.id} asks for no help`);
  }
  const scope = scopeOf(deps, task, input.exchange, run, { kind: 'intrinsic', id: call.name, version: null });
  let spent: Spending = { tokens: 0 };
  try {
    await authorize(deps, task, call, input.decided, scope);
    const decided = await routeOf(deps, task, call.request, input, run);
    spent = decided.spent;
    return { ...(await carryOut(deps, task, call, call.request, decided.decision, input)), ...spent };
  } catch (error) {
    if (!isModelsFault(error)) throw error;
    const log = await answerCall(deps, task, input, refusalOf(call.name, error));
    return { log, ...spent };
  }
}

/** The route that was decided, by an earlier attempt or now. */
async function routeOf(
  deps: ActivityDeps,
  task: TaskRow,
  request: HelpRequest,
  input: CallInput,
  run: Run,
): Promise<{ decision: HelpDecision; spent: Spending }> {
  const at = key.help(input, input.ordinal);
  const saved = (await deps.journal.store.effects(task.id, [at])).get(at);
  const known = fromJson<HelpDecision>(saved);
  let spent: Spending = { tokens: 0 };
  if (known) return { decision: known, spent };
  const decision = await deps.hooks.run(
    'help.decided',
    scopeOf(deps, task, input.exchange, run),
    proposalOf(request),
    {
      async body(proposal) {
        const decided = await decideHelp(deps, task, proposal, run.signal);
        spent = decided.spent;
        return decided.decision;
      },
    },
  );
  const objection = objectionTo(decision, task.data);
  if (objection !== undefined) throw new HarnessError('tool.invalid_arguments', objection);
  const written = await deps.journal.write(task.id, { effect: { key: at, body: toJson(decision) } });
  return { decision: fromJson<HelpDecision>(written.effect) ?? decision, spent };
}

async function carryOut(
  deps: ActivityDeps,
  task: TaskRow,
  call: GateRecord,
  request: HelpRequest,
  decision: HelpDecision,
  input: CallInput,
): Promise<Omit<HelpOutput, 'tokens' | 'cost'>> {
  const { participantId } = decision;
  if (decision.route === 'create_task') {
    const child = await createSubtask(deps, task, input, {
      name: decision.name,
      goal: decision.goal,
      acceptanceCriteria: decision.acceptanceCriteria,
      description: '',
      ...(request.step === undefined ? {} : { step: request.step }),
      assignee: participantId,
    });
    const text = `created task ${child} for ${participantId}. It goes on without you; what comes of it comes as a message.`;
    return { child, log: await answerCall(deps, task, input, resultOf(call.name, text, false)) };
  }
  const { expiresInSeconds } = request;
  const expiresAt =
    expiresInSeconds === undefined
      ? null
      : new Date(deps.clock.now() + expiresInSeconds * 1000).toISOString();
  const published = await publishQuestion(
    deps,
    task,
    `question:${key.result(input, input.ordinal)}`,
    input.exchange,
    {
      participantIds: [participantId],
      text: decision.question,
      options: decision.options,
      expiresAt,
    },
  );
  const text = `asked ${participantId}; question ${published.question.id}. The answer comes as a message.`;
  const log = await answerCall(deps, task, input, resultOf(call.name, text, false));
  return { question: published.question, log: Math.max(log, published.log) };
}

function proposalOf(request: HelpRequest): HelpDecision {
  const { route, participantId, question, options, name, goal, acceptanceCriteria } = request;
  return {
    route,
    participantId,
    question,
    options,
    name,
    goal,
    acceptanceCriteria,
    reason: 'proposed by the agent',
  };
}
