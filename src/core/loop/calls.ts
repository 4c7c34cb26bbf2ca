import type { AbortSignalLike } from '../base/index.ts';
import { adoptChild } from './mailbox.ts';
import type { CallInput, CallOutput, GatedCall, HelpOutput, LoopPort, Outcome } from './port.ts';
import {
  type CallRef,
  type CarriedState,
  type CutCall,
  spend,
  type TurnRef,
  type WaitingCall,
} from './state.ts';

/** What a batch of calls came to. */
export interface BatchOutcome {
  /** Somebody was asked, for an answer or for approval: the loop waits. */
  readonly asked: boolean;
  readonly cut: readonly CutCall[];
  readonly fingerprints: readonly string[];
}

/** When a call is stopped: by a mere interrupt, or only by a cancel. */
export interface CallSignals {
  readonly interrupted: AbortSignalLike;
  readonly canceled: AbortSignalLike;
}

/**
 * Runs the calls of one turn (TL-6): independent ones at the same time, while one that is not safe to repeat waits for
 * all before it and is waited for by all after it. Results are stored by ordinal, so the model reads them in its own
 * order whatever finished first.
 */
export async function runCalls(
  state: CarriedState,
  port: LoopPort,
  at: TurnRef,
  calls: readonly GatedCall[],
  cuts: CallSignals,
): Promise<BatchOutcome> {
  const cut: CutCall[] = [];
  const fingerprints: string[] = [];
  let asked = false;
  const run = async (call: GatedCall): Promise<void> => {
    // What may not run twice is not cut for a mere interrupt: its result is waited for (LP-4).
    const signal = call.repeatable ? cuts.interrupted : cuts.canceled;
    const input = inputOf(state, { ...at, ordinal: call.ordinal });
    if (call.kind === 'done') return;
    if (call.approval !== undefined) {
      const waiting: WaitingCall = {
        ...at,
        ordinal: call.ordinal,
        callId: call.callId,
        kind: call.kind,
        repeatable: call.repeatable,
        argumentsHash: call.approval,
      };
      const outcome = await port.requestApproval(input, signal);
      asked = adoptHelp(state, outcome, waiting) || asked;
    } else if (call.kind === 'help') {
      asked = adoptHelp(state, await port.requestHelp(input, signal)) || asked;
    } else if (call.kind === 'spawn') {
      adoptSpawn(state, await port.spawnSubtask(input, signal));
    } else {
      const outcome = await port.runTool(input, { repeatable: call.repeatable }, signal);
      if (outcome.kind === 'ok') fingerprints.push(outcome.value.fingerprint);
      if (signal.aborted) cut.push({ ...at, ordinal: call.ordinal, outcome: cutOutcome(outcome, call) });
    }
  };

  let together: Promise<void>[] = [];
  for (const call of calls) {
    if (call.kind === 'done' || cuts.interrupted.aborted) continue;
    if (call.kind !== 'tool' || call.approval !== undefined || !call.repeatable) {
      await Promise.all(together);
      together = [];
      if (!cuts.interrupted.aborted) await run(call);
    } else {
      together.push(run(call));
    }
  }
  await Promise.all(together);
  return { asked, cut, fingerprints };
}

/**
 * Runs a call that somebody has decided about: the activity reads the decision and runs the call or records the denial
 * (PC-12). `late` when its turn was read meanwhile.
 */
export async function runDecided(
  state: CarriedState,
  port: LoopPort,
  call: WaitingCall,
  decided: NonNullable<CallInput['decided']>,
  cuts: CallSignals,
): Promise<{ readonly late: boolean; readonly cut: readonly CutCall[] }> {
  const late = state.unread?.exchange !== call.exchange || state.unread.turn !== call.turn;
  const input: CallInput = { ...inputOf(state, call), decided, ...(late ? { late } : {}) };
  const signal = call.repeatable ? cuts.interrupted : cuts.canceled;
  if (call.kind === 'help') {
    adoptHelp(state, await port.requestHelp(input, signal));
  } else if (call.kind === 'spawn') {
    adoptSpawn(state, await port.spawnSubtask(input, signal));
  } else {
    const outcome = await port.runTool(input, { repeatable: call.repeatable }, signal);
    const { exchange, turn, ordinal } = call;
    if (signal.aborted)
      return { late, cut: [{ exchange, turn, ordinal, outcome: cutOutcome(outcome, call) }] };
  }
  return { late, cut: [] };
}

function inputOf(state: CarriedState, { exchange, turn, ordinal }: CallRef): CallInput {
  return { taskId: state.taskId, storeId: state.storeId, exchange, turn, ordinal, mode: 'run' };
}

/** Notes what a request for help left; true when a question is open now. */
function adoptHelp(state: CarriedState, outcome: Outcome<HelpOutput>, call?: WaitingCall): boolean {
  if (outcome.kind !== 'ok') return false;
  const { question, child, log } = outcome.value;
  spend(state, outcome.value);
  state.cursors.log = Math.max(state.cursors.log, log);
  if (child !== undefined) adoptChild(state, { taskId: child, state: null, report: 0 });
  if (question === undefined) return false;
  state.questions.push(call ? { ...question, call } : question);
  return true;
}

/** Notes the sub-task that was started, if one was. */
export function adoptSpawn(
  state: CarriedState,
  outcome: Awaited<ReturnType<LoopPort['spawnSubtask']>>,
): void {
  if (outcome.kind !== 'ok') return;
  state.cursors.log = Math.max(state.cursors.log, outcome.value.log);
  if (outcome.value.child === undefined) return;
  adoptChild(state, { taskId: outcome.value.child, state: null, report: 0 });
}

function cutOutcome(outcome: Outcome<CallOutput>, call: Pick<GatedCall, 'repeatable'>): CutCall['outcome'] {
  if (outcome.kind === 'ok') return 'finished';
  return outcome.kind === 'cut' && call.repeatable ? 'stopped' : 'unknown';
}
