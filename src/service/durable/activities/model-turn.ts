import {
  HarnessError,
  type JsonValue,
  ProviderError,
  RetryableProviderError,
} from '../../../core/base/index.ts';
import { readQuestion } from '../../../core/extensions/index.ts';
import type { CompletionDecision, HookPoint, OperationScope } from '../../../core/hooks/index.ts';
import { applyChange, type TaskChange, type TurnInput, type TurnOutput } from '../../../core/loop/index.ts';
import {
  invokeLlm,
  type LlmRequest,
  type LlmResponse,
  type ToolDefinition,
} from '../../../core/models/index.ts';
import type { NewEntry, TaskRow } from '../../../core/persistence/index.ts';
import { renderInstructions, renderTask } from '../../../core/prompts/index.ts';
import { appendPending } from './append-pending.ts';
import type { Conversations } from './conversation.ts';
import { type ActivityDeps, type Run, scopeOf } from './deps.ts';
import { fromJson, type ModelEffect, toJson } from './effects.ts';
import { type Gated, gateCall } from './gate.ts';
import { callId, key, taskOf } from './keys.ts';
import { spendingOn } from './spending.ts';

/**
 * One turn of the model: append what is pending, read the conversation, call, gate the calls, save. Everything it
 * leaves is saved in one write under the turn's key, so a repeated attempt finds it and calls nothing (invariant 1).
 */
export async function modelTurn(
  deps: ActivityDeps,
  conversations: Conversations,
  input: TurnInput,
  run: Run,
): Promise<TurnOutput> {
  const task = await taskOf(deps, input);
  const saved = await deps.journal.store.effects(task.id, [key.model(input), key.response(input)]);
  const done = fromJson<ModelEffect>(saved.get(key.model(input)));
  if (done?.calls) return outputOf(deps, done, task);

  const pending = await appendPending(deps, task, input);
  const scope = scopeOf(deps, pending, input.exchange, run, {
    kind: 'llm',
    id: deps.llm.model,
    version: null,
  });
  const request = await assemble(deps, conversations, pending, input);
  const started = deps.clock.now();
  const response = await callModel(
    deps,
    request,
    scope,
    input,
    run,
    fromJson<LlmResponse>(saved.get(key.response(input))),
  );
  const effect = await save(deps, pending, input, response, scope, run);
  deps.report({
    kind: 'model',
    taskId: task.id,
    exchange: input.exchange,
    turn: input.turn,
    attempt: run.attempt,
    ms: deps.clock.now() - started,
    tokens: response.usage.input + response.usage.output,
    calls: response.calls.map((call) => call.name),
  });
  deps.failpoint('model_turn.saved');
  return effect;
}

async function assemble(
  deps: ActivityDeps,
  conversations: Conversations,
  task: TaskRow,
  input: TurnInput,
): Promise<LlmRequest> {
  const questions = await openQuestionTexts(deps, task.id, input.openQuestions);
  const date = new Date(deps.clock.now()).toISOString().slice(0, 10);
  const { model } = task.data;
  const effort = task.data.reasoningEffort ?? deps.effort;
  return {
    instructions: renderInstructions(deps.systemPrompt, deps.agent, task.data.participants),
    tools: toolsOf(deps),
    input: [
      { type: 'user', text: renderTask(task.data, { date, openQuestions: questions }) },
      ...(await conversations.read(task.id, task.transcript)),
    ],
    cacheKey: task.id,
    ...(model === null ? {} : { model }),
    ...(effort === undefined ? {} : { effort }),
  };
}

/** Intrinsics and tools in one order, the same on every worker (CW-2). */
function toolsOf(deps: ActivityDeps): readonly ToolDefinition[] {
  const intrinsics = [...deps.intrinsics.values()].map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema,
  }));
  return [...intrinsics, ...deps.tools.definitions()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function openQuestionTexts(
  deps: ActivityDeps,
  taskId: string,
  ids: readonly string[],
): Promise<string[]> {
  const texts: string[] = [];
  for (const id of ids) {
    const question = await readQuestion(deps.journal.store, taskId, id);
    if (question) texts.push(`to ${question.participantIds.join(', ')}: ${question.text}`);
  }
  return texts;
}

/** Hooks that run between the model's answer and its saving. */
const AFTER_THE_ANSWER: readonly HookPoint[] = [
  'llm.invoked.post',
  ...(
    [
      'tool_calls.extracted',
      'tool.invoked',
      'plan.created',
      'step.finished',
      'help.requested',
      'subtask.spawned',
      'tool.approval',
      'task.complete',
    ] as const
  ).flatMap((operation) =>
    (['pre', 'in', 'post'] as const).map((phase): HookPoint => `${operation}.${phase}`),
  ),
];

/** Calls the model once: with hooks listening, the answer is saved before anything that may fail comes after (HK-11). */
async function callModel(
  deps: ActivityDeps,
  request: LlmRequest,
  scope: OperationScope,
  input: TurnInput,
  run: Run,
  saved: LlmResponse | undefined,
): Promise<LlmResponse> {
  const mayFailLater = deps.hooks.listens(...AFTER_THE_ANSWER);
  return deps.hooks.run('llm.invoked', scope, request, {
    saved,
    body: (final) => stream(deps, final, input, run),
    ...(mayFailLater
      ? {
          save: async (response) => {
            await deps.journal.write(input.taskId, {
              effect: { key: key.response(input), body: toJson(response) },
            });
          },
        }
      : {}),
  });
}

async function stream(
  deps: ActivityDeps,
  request: LlmRequest,
  input: TurnInput,
  run: Run,
): Promise<LlmResponse> {
  const text = deps.journal.text(input.taskId, { exchange: input.exchange, turn: input.turn });
  const response = await invokeLlm(deps.llm, request, run.signal, (piece) => text.write(piece));
  text.end();
  deps.failpoint('model_turn.called');
  if (response.calls.length === 0 && response.text.trim() === '') {
    if (response.finish === 'refusal') return { ...response, text: 'The model refused to answer.' };
    if (response.finish === 'length') {
      throw new ProviderError('the answer was cut off before its first word; raise max_output_tokens');
    }
    throw new RetryableProviderError('the model returned an empty answer');
  }
  return response;
}

async function save(
  deps: ActivityDeps,
  task: TaskRow,
  input: TurnInput,
  answer: LlmResponse,
  scope: OperationScope,
  run: Run,
): Promise<TurnOutput> {
  const { calls } = await deps.hooks.run(
    'tool_calls.extracted',
    scope,
    { calls: answer.calls },
    { body: (found) => found },
  );
  const gated: Gated[] = [];
  const changes: TaskChange[] = [];
  let { data } = task;
  for (const [ordinal, call] of calls.entries()) {
    const readStored = (ref: string) => deps.journal.store.blob(task.id, ref);
    const next = await gateCall(deps, call, ordinal, {
      taskId: task.id,
      at: input,
      data,
      actors: input.actors,
      scope: (entity) => ({ ...scope, entity }),
      readStored,
    });
    gated.push(next);
    if (next.change === undefined) continue;
    changes.push(next.change);
    data = applyChange(data, next.change);
  }
  const decision = calls.length > 0 ? undefined : await decide(deps, input, answer, scope);
  // Ids of our own: providers give none, or the same ones every turn.
  const response = {
    ...answer,
    calls: calls.map((call, ordinal) => ({ ...call, id: callId(input, ordinal) })),
  };
  const effect: ModelEffect = {
    response,
    calls: gated.map((call) => call.record),
    ...(decision ? { decision: decision.decision } : {}),
  };
  // Cut while it was gated: nobody waits for it any more.
  if (run.signal.aborted) throw run.signal.reason;
  const written = await deps.journal.write(task.id, {
    effect: { key: key.model(input), body: toJson(effect) },
    effects: gated.flatMap(({ record, result }): { key: string; body: JsonValue }[] =>
      result ? [{ key: key.result(input, record.ordinal), body: toJson(result) }] : [],
    ),
    transcript: [{ key: key.model(input), item: { type: 'assistant', effect: key.model(input) } }],
    entries: entriesOf(input, response, changes.length > 0),
    changes,
  });
  const stands = fromJson<ModelEffect>(written.effect) ?? effect;
  if (stands.calls === undefined)
    throw new HarnessError('turn.interrupted', `turn ${key.model(input)} was cut`);
  return outputOf(deps, stands, written.task);
}

/** Text with calls is a remark on the way; text without is the reply. */
function entriesOf(input: TurnInput, response: LlmResponse, changesData: boolean): NewEntry[] {
  const { exchange, turn } = input;
  const entries: NewEntry[] = [];
  if (response.text.trim() !== '') {
    const kind = response.calls.length > 0 ? 'note' : 'response';
    entries.push({ key: `${kind}:${exchange}.${turn}`, exchange, body: { kind, text: response.text } });
  }
  if (changesData) entries.push({ key: `data:${exchange}.${turn}`, exchange, body: { kind: 'task_data' } });
  return entries;
}

/** LP-2: how a turn without calls ends its exchange. */
async function decide(
  deps: ActivityDeps,
  input: TurnInput,
  response: LlmResponse,
  scope: OperationScope,
): Promise<CompletionDecision> {
  const ends = input.lifecycle === 'delegated' || input.conversation === 'single';
  const body = (): CompletionDecision => {
    if (input.openQuestions.length > 0 || input.openChildren > 0 || !ends) return { decision: 'wait' };
    return response.finish === 'refusal'
      ? { decision: 'fail', reason: 'the model refused' }
      : { decision: 'complete' };
  };
  return deps.hooks.run(
    'task.complete',
    scope,
    {
      text: response.text,
      lifecycle: input.lifecycle,
      conversation: input.conversation,
      openQuestions: input.openQuestions.length,
      openChildren: input.openChildren,
    },
    { body },
  );
}

function outputOf(deps: ActivityDeps, effect: ModelEffect, task: TaskRow): TurnOutput {
  return {
    calls: effect.calls.map(({ ordinal, callId: id, kind, repeatable, approval }) => ({
      ordinal,
      callId: id,
      kind,
      repeatable,
      ...(approval === undefined ? {} : { approval }),
    })),
    ...(effect.decision ? { decision: effect.decision } : {}),
    ...spendingOn(deps, task, effect.response),
    log: task.log,
  };
}
