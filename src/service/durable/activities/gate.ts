import {
  HarnessError,
  HookAbort,
  isJsonObject,
  type JsonObject,
  messageOf,
} from '../../../core/base/index.ts';
import type { OperationScope, ToolCallInput, ToolCallOutput } from '../../../core/hooks/index.ts';
import type { TaskChange, TaskData, TurnRef } from '../../../core/loop/index.ts';
import type { ToolCall } from '../../../core/models/index.ts';
import {
  compileSchema,
  type Intrinsic,
  type IntrinsicOutcome,
  isSafeToRepeat,
  type Tool,
} from '../../../core/tools/index.ts';
import { argumentsHash, judgeCall } from './approval.ts';
import type { ActivityDeps } from './deps.ts';
import type { GateRecord, ResultEffect } from './effects.ts';
import { callId } from './keys.ts';

/** A gated call, with its result when it needs no run, and what it changes of the task. */
export interface Gated {
  readonly record: GateRecord;
  readonly result?: ResultEffect;
  readonly change?: TaskChange;
}

/** What the gate needs of the turn it works for. */
export interface GateScope {
  readonly taskId: string;
  readonly at: TurnRef;
  readonly data: TaskData;
  readonly actors: readonly string[];
  readonly scope: (entity: NonNullable<OperationScope['entity']>) => OperationScope;
  readonly readStored: (ref: string) => Promise<string | undefined>;
}

/**
 * The part of the call pipeline before "run" (TL-10), the same for every kind of tool: parse, validate, `pre` hooks,
 * validate again, ask the policy. An intrinsic is decided here whole, unless somebody has to approve it first; what a
 * call fails with becomes its result, for the model to read.
 */
export async function gateCall(
  deps: ActivityDeps,
  call: ToolCall,
  ordinal: number,
  turn: GateScope,
): Promise<Gated> {
  const base = { ordinal, callId: callId(turn.at, ordinal), name: call.name };
  const intrinsic = deps.intrinsics.get(call.name);
  const tool = deps.tools.get(call.name);
  const refuse = (error: unknown, args: JsonObject): Gated => ({
    record: { ...base, kind: 'done', repeatable: true, arguments: args },
    result: refusalOf(call.name, error),
  });
  let args: JsonObject = {};
  try {
    const target = intrinsic ?? tool;
    if (target === undefined) throw new HarnessError('tool.unknown', unknownTool(deps, call.name));
    args = validated(target, parseArguments(call));
    const scope = turn.scope({ kind: intrinsic ? 'intrinsic' : 'tool', id: call.name, version: null });
    const input = { callId: base.callId, name: call.name, arguments: args };
    args = validated(
      target,
      (await deps.hooks.phase('pre', { operation: 'tool.invoked', scope, input })).input.arguments,
    );
    const judged = await judgeCall(deps, turn.taskId, { ...input, arguments: args }, scope);
    if (judged.decision === 'deny') {
      throw new HarnessError('tool.denied', judged.reason ?? 'a rule refuses this call');
    }
    const asks = judged.decision === 'ask';
    if (intrinsic && (intrinsic.command !== undefined || !asks)) {
      const gated = await applyIntrinsic(deps, intrinsic, { ...base, arguments: args }, scope, turn);
      return asks ? waiting(gated, judged.reason, turn.actors) : gated;
    }
    // An intrinsic that only changes data runs like a tool, once it is approved.
    const repeatable = tool === undefined || isSafeToRepeat(tool.annotations);
    const gated: Gated = { record: { ...base, kind: 'tool', repeatable, arguments: args } };
    return asks ? waiting(gated, judged.reason, turn.actors) : gated;
  } catch (error) {
    if (isModelsFault(error)) return refuse(error, args);
    throw error;
  }
}

/** The same call, once somebody has approved it (PC-12). One that was refused already stays so. */
function waiting(gated: Gated, reason: string | undefined, actors: readonly string[]): Gated {
  const { record } = gated;
  if (record.kind === 'done') return gated;
  const approval = argumentsHash(record.name, record.arguments);
  return { ...gated, record: { ...record, approval, actors, ...(reason === undefined ? {} : { reason }) } };
}

/**
 * Decides an intrinsic: its own operation within `tool.invoked`. What only changes the task's data is done here whole;
 * a command goes back to the loop, and its `post` phase runs where it is carried out.
 */
export async function applyIntrinsic(
  deps: ActivityDeps,
  intrinsic: Intrinsic,
  call: ToolCallInput & { readonly ordinal: number },
  scope: OperationScope,
  turn: Pick<GateScope, 'data' | 'actors' | 'readStored'>,
): Promise<Gated> {
  const { ordinal, name } = call;
  let args = call.arguments;
  let outcome: IntrinsicOutcome | undefined;
  const apply = async (input: ToolCallInput): Promise<ToolCallOutput> => {
    args = validated(intrinsic, input.arguments);
    const { data, actors, readStored } = turn;
    outcome = await intrinsic.apply(args, { agentId: deps.agentId, data, actors, readStored });
    return { text: outcome.kind === 'result' ? outcome.text : '', isError: false };
  };
  const { operation } = intrinsic;
  const decide = async (input: ToolCallInput): Promise<ToolCallOutput> => {
    if (operation === undefined) return apply(input);
    const pre = await deps.hooks.phase('pre', { operation, scope, input });
    const decided = await deps.hooks.inPhase(pre, apply);
    if (outcome?.kind === 'command') return { text: '', isError: false };
    return (await deps.hooks.phase('post', decided)).result ?? { text: '', isError: true };
  };
  const invoked = await deps.hooks.inPhase({ operation: 'tool.invoked', scope, input: call }, decide);
  const record = { ordinal, callId: call.callId, name, repeatable: true, arguments: args };
  if (outcome?.kind === 'command') {
    const { request } = outcome;
    return { record: { ...record, kind: request.command, request } };
  }
  const { result } = await deps.hooks.phase('post', invoked);
  return {
    record: { ...record, kind: 'done' },
    result: resultOf(name, result?.text ?? '', result?.isError ?? false),
    ...(outcome?.change ? { change: outcome.change } : {}),
  };
}

function parseArguments(call: ToolCall): JsonObject {
  let parsed: unknown;
  try {
    parsed = JSON.parse(call.arguments.trim() === '' ? '{}' : call.arguments);
  } catch (error) {
    throw new HarnessError('tool.invalid_arguments', `the arguments are not JSON: ${messageOf(error)}`);
  }
  if (!isJsonObject(parsed))
    throw new HarnessError('tool.invalid_arguments', 'the arguments must be a JSON object');
  return parsed;
}

function validated(target: Tool | Intrinsic, args: JsonObject): JsonObject {
  const outcome = compileSchema(target.inputSchema)(args);
  if (!outcome.ok) throw new HarnessError('tool.invalid_arguments', outcome.problems.join('; '));
  return outcome.value;
}

/** LP-6: what the model can react to is a result; anything else fails the attempt. */
export function isModelsFault(error: unknown): boolean {
  if (error instanceof HookAbort) return true;
  return error instanceof HarnessError && (error.code.startsWith('tool.') || error.code.startsWith('plan.'));
}

/** What the model reads of what its call was refused for. */
export function refusalOf(name: string, error: unknown): ResultEffect {
  const known = error instanceof HarnessError ? error.code : 'internal';
  const code = error instanceof HookAbort ? 'tool.vetoed' : known;
  return resultOf(name, `error (${code}): ${messageOf(error)}`, true);
}

function unknownTool(deps: ActivityDeps, name: string): string {
  const known = [...deps.intrinsics.keys(), ...deps.tools.definitions().map((tool) => tool.name)].sort();
  return `there is no tool "${name}"; tools: ${known.join(', ')}`;
}

/** A result the harness itself gives: trusted, with no fingerprint to count. */
export function resultOf(name: string, text: string, isError: boolean): ResultEffect {
  return { name, text, isError, untrusted: false, fingerprint: '' };
}
