import type { AbortSignalLike } from '../base/index.ts';
import type { CallOutput, CutCall, GatedCall, LoopPort, Outcome } from './port.ts';
import type { CarriedState, TurnRef } from './state.ts';

/** What a batch of calls came to. */
export interface BatchOutcome {
  readonly asked: boolean;
  readonly cut: readonly CutCall[];
  readonly fingerprints: readonly string[];
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
  cuts: { readonly interrupted: AbortSignalLike; readonly canceled: AbortSignalLike },
): Promise<BatchOutcome> {
  const cut: CutCall[] = [];
  const fingerprints: string[] = [];
  let asked = false;
  const input = (call: GatedCall) => ({
    taskId: state.taskId,
    storeId: state.storeId,
    exchange: at.exchange,
    turn: at.turn,
    ordinal: call.ordinal,
    mode: 'run' as const,
  });
  const run = async (call: GatedCall): Promise<void> => {
    // What may not run twice is not cut for a mere interrupt: its result is waited for (LP-4).
    const signal = call.repeatable ? cuts.interrupted : cuts.canceled;
    if (call.kind === 'ask_participant') {
      const outcome = await port.askParticipant(input(call), signal);
      if (outcome.kind !== 'ok') return;
      state.cursors.log = Math.max(state.cursors.log, outcome.value.log);
      if (outcome.value.question) {
        state.questions.push(outcome.value.question);
        asked = true;
      }
      return;
    }
    const outcome = await port.runTool(input(call), { repeatable: call.repeatable }, signal);
    if (outcome.kind === 'ok') fingerprints.push(outcome.value.fingerprint);
    if (signal.aborted) cut.push({ ...at, ordinal: call.ordinal, outcome: cutOutcome(outcome, call) });
  };

  let together: Promise<void>[] = [];
  for (const call of calls) {
    if (call.kind === 'done' || cuts.interrupted.aborted) continue;
    const alone = call.kind === 'ask_participant' || !call.repeatable;
    if (alone) {
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

function cutOutcome(outcome: Outcome<CallOutput>, call: GatedCall): CutCall['outcome'] {
  if (outcome.kind === 'ok') return 'finished';
  return outcome.kind === 'cut' && call.repeatable ? 'stopped' : 'unknown';
}
