import { createHash } from 'node:crypto';
import { asHarnessError, canonicalJson, HookAbort, messageOf } from '../../../core/base/index.ts';
import type { OperationScope, ToolCallOutput } from '../../../core/hooks/index.ts';
import { type CallInput, type CallOutput, isTerminal } from '../../../core/loop/index.ts';
import type { TaskRow } from '../../../core/persistence/index.ts';
import { cutText, type Intrinsic, isSafeToRepeat, type ToolResult } from '../../../core/tools/index.ts';
import { authorize } from './approval.ts';
import { type ActivityDeps, type Run, scopeOf } from './deps.ts';
import { fromJson, type GateRecord, type ResultEffect, toJson } from './effects.ts';
import { applyIntrinsic, isModelsFault, refusalOf, resultOf } from './gate.ts';
import { callOf, key, resultKey, taskOf } from './keys.ts';

/**
 * Runs one gated call: re-check, run, save, `post` hooks (TL-10). A result that stands is returned as it is. In
 * `settle` mode nothing runs: the saved result is read, or what is known is recorded by compare-and-set.
 */
export async function runTool(deps: ActivityDeps, input: CallInput, run: Run): Promise<CallOutput> {
  const task = await taskOf(deps, input);
  const keys = { ran: key.ran(input, input.ordinal), result: resultKey(input) };
  const saved = await deps.journal.store.effects(task.id, Object.values(keys));
  const result = fromJson<ResultEffect>(saved.get(keys.result));
  if (result) return outputOf(result);
  const call = await callOf(deps, task, input);
  const ran = fromJson<ResultEffect>(saved.get(keys.ran));
  if (ran) return finish(deps, task, input, call, ran, run);
  if (input.mode === 'settle') return record(deps, task, input, settled(call, input.failure));
  if (isTerminal(task.state)) return record(deps, task, input, settled(call, undefined));

  await deps.journal.write(task.id, {
    entries: [
      {
        key: `started:${keys.result}`,
        exchange: input.exchange,
        body: { kind: 'tool', phase: 'started', turn: input.turn, name: call.name, isError: false },
      },
    ],
  });
  const started = deps.clock.now();
  const outcome = await runOnce(deps, task, call, input, run);
  deps.report({
    kind: 'tool',
    taskId: task.id,
    name: call.name,
    attempt: run.attempt,
    ms: deps.clock.now() - started,
    isError: outcome.isError,
  });
  deps.failpoint('tool.ran');
  return finish(deps, task, input, call, outcome, run);
}

/** Runs the body of `tool.invoked`. What the tool fails with is a result the model reads, unless trying again may help. */
async function runOnce(
  deps: ActivityDeps,
  task: TaskRow,
  call: GateRecord,
  at: CallInput,
  run: Run,
): Promise<ResultEffect> {
  const tool = deps.tools.get(call.name);
  const intrinsic = deps.intrinsics.get(call.name);
  const scope = scopeOf(deps, task, at.exchange, run, { kind: 'tool', id: call.name, version: null });
  if (intrinsic) return runIntrinsic(deps, task, intrinsic, call, at, scope);
  if (tool === undefined)
    return effectOf(call, { text: `error (tool.unknown): "${call.name}" is gone`, isError: true });
  const input = { callId: call.callId, name: call.name, arguments: call.arguments };
  let data: ToolResult['data'];
  try {
    const context = await deps.hooks.inPhase(
      { operation: 'tool.invoked', scope, input },
      async (final): Promise<ToolCallOutput> => {
        await authorize(deps, task, { ...final, callId: call.callId, name: call.name }, at.decided, scope);
        const returned = await tool.run(final.arguments, {
          agentId: deps.agentId,
          taskId: task.id,
          callKey: `${task.id}:${key.result(at, at.ordinal)}`,
          signal: run.signal,
        });
        data = returned.data;
        return { text: returned.text, isError: returned.isError === true };
      },
    );
    return {
      ...effectOf(call, context.result ?? { text: '', isError: false }),
      ...(data === undefined ? {} : { data }),
    };
  } catch (error) {
    if (run.signal.aborted) throw error;
    const failure = asHarnessError(error, 'tool.failed');
    if (failure.retryable && isSafeToRepeat(tool.annotations)) throw failure;
    const code = error instanceof HookAbort ? 'tool.vetoed' : failure.code;
    const note =
      isSafeToRepeat(tool.annotations) || code === 'tool.denied'
        ? ''
        : ' It was not tried again, as it is not safe to repeat.';
    return effectOf(call, { text: `error (${code}): ${messageOf(error)}.${note}`, isError: true });
  }
}

/** An intrinsic that somebody had to approve: it is decided now, on the task as it is now. */
async function runIntrinsic(
  deps: ActivityDeps,
  task: TaskRow,
  intrinsic: Intrinsic,
  call: GateRecord,
  at: CallInput,
  scope: OperationScope,
): Promise<ResultEffect> {
  try {
    await authorize(deps, task, call, at.decided, scope);
    const applied = await applyIntrinsic(deps, intrinsic, call, scope, {
      data: task.data,
      actors: call.actors ?? [],
      readStored: (ref) => deps.journal.store.blob(task.id, ref),
    });
    if (applied.change) {
      await deps.journal.write(task.id, {
        changes: [applied.change],
        entries: [{ key: `data:${resultKey(at)}`, exchange: at.exchange, body: { kind: 'task_data' } }],
      });
    }
    return applied.result ?? resultOf(call.name, '', false);
  } catch (error) {
    if (!isModelsFault(error)) throw error;
    return refusalOf(call.name, error);
  }
}

/** Saves what ran, lets `post` hooks change it, and records what the model reads. */
async function finish(
  deps: ActivityDeps,
  task: TaskRow,
  input: CallInput,
  call: GateRecord,
  ran: ResultEffect,
  run: Run,
): Promise<CallOutput> {
  if (!deps.hooks.listens('tool.invoked.post')) return record(deps, task, input, ran);
  const kept = await deps.journal.write(task.id, {
    effect: { key: key.ran(input, input.ordinal), body: toJson(ran) },
  });
  const stored = fromJson<ResultEffect>(kept.effect) ?? ran;
  const posted = await deps.hooks.phase('post', {
    operation: 'tool.invoked',
    scope: scopeOf(deps, task, input.exchange, run, { kind: 'tool', id: call.name, version: null }),
    input: { callId: call.callId, name: call.name, arguments: call.arguments },
    result: { text: stored.text, isError: stored.isError },
  });
  return record(deps, task, input, { ...stored, ...posted.result });
}

async function record(
  deps: ActivityDeps,
  task: TaskRow,
  input: CallInput,
  whole: ResultEffect,
): Promise<CallOutput> {
  const ref = resultKey(input);
  const { text, cut } = cutText(whole.text, deps.toolResultLimit, ref);
  const written = await deps.journal.write(task.id, {
    effect: { key: ref, body: toJson({ ...whole, text }) },
    entries: [
      {
        key: `finished:${ref}`,
        exchange: input.exchange,
        body: { kind: 'tool', phase: 'finished', turn: input.turn, name: whole.name, isError: whole.isError },
      },
    ],
    ...(cut ? { blobs: [{ key: ref, text: whole.text }] } : {}),
  });
  deps.failpoint('tool.saved');
  return outputOf(fromJson<ResultEffect>(written.effect) ?? whole);
}

function effectOf(call: GateRecord, result: ToolCallOutput): ResultEffect {
  const fingerprint = createHash('sha256')
    .update(canonicalJson([call.name, call.arguments, result.text]))
    .digest('base64url')
    .slice(0, 16);
  return { name: call.name, text: result.text, isError: result.isError, untrusted: true, fingerprint };
}

/** What the model reads of a call that somebody has yet to approve. */
export function waitingForApproval(call: GateRecord): ResultEffect {
  return resultOf(call.name, 'this call waits for an approval; what comes of it comes on its own', false);
}

/** What the model reads of a call that left no result: why it failed, or that nobody knows whether it took effect. */
export function settled(call: GateRecord, failure: CallInput['failure']): ResultEffect {
  const why = failure ? ` (${failure.code}: ${failure.message})` : '';
  const text = call.repeatable
    ? `error${why || ' (stopped)'}: the call came to no result.`
    : `error (tool.outcome_unknown): this was cut off while it ran${why}. It may or may not have taken effect and was not ` +
      'run again; check before you repeat it.';
  // Of its own, so that unknown outcomes of different calls are not taken for one repeated call.
  return { name: call.name, text, isError: true, untrusted: false, fingerprint: call.callId };
}

function outputOf(result: ResultEffect): CallOutput {
  return { isError: result.isError, fingerprint: result.fingerprint };
}
