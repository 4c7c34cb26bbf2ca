import {
  HarnessError,
  HookAbort,
  isJsonObject,
  type JsonObject,
  messageOf,
} from '../../../core/base/index.ts';
import type { OperationScope, ToolCallInput, ToolCallOutput } from '../../../core/hooks/index.ts';
import type { TaskData, TurnRef } from '../../../core/loop/index.ts';
import type { ToolCall } from '../../../core/models/index.ts';
import {
  compileSchema,
  type Intrinsic,
  type IntrinsicOutcome,
  isSafeToRepeat,
  type Tool,
} from '../../../core/tools/index.ts';
import type { ActivityDeps } from './deps.ts';
import type { GateRecord, ResultEffect } from './effects.ts';
import { callId } from './keys.ts';

/** A gated call, with its result when it needs no run, and the task data it leaves. */
export interface Gated {
  readonly record: GateRecord;
  readonly result?: ResultEffect;
  readonly data: TaskData;
}

/** What the gate needs of the turn it works for. */
export interface GateScope {
  readonly at: TurnRef;
  readonly data: TaskData;
  readonly scope: (entity: NonNullable<OperationScope['entity']>) => OperationScope;
  readonly readStored: (ref: string) => Promise<string | undefined>;
}

/**
 * The part of the call pipeline before "run" (TL-10), the same for every kind of tool: parse, validate, `pre` hooks,
 * validate again. An intrinsic is decided here whole; what a call fails with becomes its result, for the model to read.
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
    result: resultOf(call.name, `error (${codeOf(error)}): ${messageOf(error)}`, true),
    data: turn.data,
  });
  let args: JsonObject = {};
  try {
    const target = intrinsic ?? tool;
    if (target === undefined) throw new HarnessError('tool.unknown', unknownTool(deps, call.name));
    args = validated(target, parseArguments(call));
    const kind = intrinsic ? 'intrinsic' : 'tool';
    const scope = turn.scope({ kind, id: call.name, version: null });
    const pre = await deps.hooks.phase('pre', {
      operation: 'tool.invoked',
      scope,
      input: { callId: base.callId, name: call.name, arguments: args },
    });
    args = validated(target, pre.input.arguments);
    if (intrinsic === undefined) {
      return {
        record: {
          ...base,
          kind: 'tool',
          repeatable: isSafeToRepeat((target as Tool).annotations),
          arguments: args,
        },
        data: turn.data,
      };
    }
    return await applyIntrinsic(deps, intrinsic, { ...base, arguments: args }, scope, turn);
  } catch (error) {
    if (isModelsFault(error)) return refuse(error, args);
    throw error;
  }
}

/**
 * Decides an intrinsic: its own operation within `tool.invoked`. What only changes the task's data is done here whole;
 * a command goes back to the loop, and its `post` phase runs where it is carried out.
 */
async function applyIntrinsic(
  deps: ActivityDeps,
  intrinsic: Intrinsic,
  call: ToolCallInput & { readonly ordinal: number },
  scope: OperationScope,
  turn: GateScope,
): Promise<Gated> {
  const { ordinal, name } = call;
  let args = call.arguments;
  let outcome: IntrinsicOutcome | undefined;
  const apply = async (input: ToolCallInput): Promise<ToolCallOutput> => {
    args = validated(intrinsic, input.arguments);
    outcome = await intrinsic.apply(args, { data: turn.data, readStored: turn.readStored });
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
    return { record: { ...record, kind: outcome.command, request: outcome.request }, data: turn.data };
  }
  const { result } = await deps.hooks.phase('post', invoked);
  return {
    record: { ...record, kind: 'done' },
    result: resultOf(name, result?.text ?? '', result?.isError ?? false),
    data: outcome?.data ?? turn.data,
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
function isModelsFault(error: unknown): boolean {
  if (error instanceof HookAbort) return true;
  return error instanceof HarnessError && (error.code.startsWith('tool.') || error.code.startsWith('plan.'));
}

function codeOf(error: unknown): string {
  if (error instanceof HookAbort) return 'tool.vetoed';
  return error instanceof HarnessError ? error.code : 'internal';
}

function unknownTool(deps: ActivityDeps, name: string): string {
  const known = [...deps.intrinsics.keys(), ...deps.tools.definitions().map((tool) => tool.name)].sort();
  return `there is no tool "${name}"; tools: ${known.join(', ')}`;
}

/** A result the harness itself gives: trusted, with no fingerprint to count. */
export function resultOf(name: string, text: string, isError: boolean): ResultEffect {
  return { name, text, isError, untrusted: false, fingerprint: '' };
}
