import { assertNever, createAbort, type ErrorCode } from '../base/index.ts';
import { type CallSignals, runCalls, runDecided } from './calls.ts';
import { drain, expireQuestions } from './mailbox.ts';
import type { CommitText, LoopPort, TurnInput, TurnMail, TurnOutput } from './port.ts';
import { type CarriedState, type CutCall, type Deed, type Pending, spend, type TurnRef } from './state.ts';
import {
  commitCanceled,
  complete,
  endsByItself,
  fail,
  failWith,
  reportToParent,
  rest,
  restWithQuestions,
} from './status.ts';
import { isTerminal } from './task.ts';

/**
 * Why what runs is to stop. `cancel`: everything gets its cancellation. `interrupt`: model calls and calls that are safe
 * to repeat are cut, other calls are waited for, and the exchange goes on with the mail that came (LP-4).
 */
export type CutReason = 'cancel' | 'interrupt';

/** Stops what runs: set while a turn runs, called by whoever receives a cancel, a control or an interrupt. */
export interface CutSource {
  cut: ((reason: CutReason) => void) | null;
}

/**
 * Works on the mail until the task parks or ends, or is to be carried over between two turns. An exchange that was
 * carried over goes on where it was.
 */
export async function runExchange(state: CarriedState, port: LoopPort, cuts: CutSource): Promise<void> {
  if (state.phase !== 'working') await begin(state, port);
  try {
    await turns(state, port, cuts);
  } finally {
    cuts.cut = null;
  }
}

async function begin(state: CarriedState, port: LoopPort): Promise<void> {
  state.phase = 'working';
  state.state = 'WORKING';
  state.exchange += 1;
  state.turn = 0;
  state.actors = [];
  state.repeated = [];
  state.turnDue = false;
  state.cutCalls = [];
  await reportToParent(state, port);
}

async function turns(state: CarriedState, port: LoopPort, cuts: CutSource): Promise<void> {
  for (;;) {
    // Everything that the next turn needs is in the state: the history starts anew here if it has grown (DU-7).
    if (state.turn > 0 && port.shouldCarryOver()) return;
    expireQuestions(state, port.now());
    state.drained.push(...drain(state));
    if (state.cancelRequestedBy !== null) return commitCanceled(state, port, state.cutCalls);
    const control = controlIn(state.drained);
    if (control !== undefined) {
      return complete(state, port, { from: 'completed_by', participantId: control });
    }
    const over = limitReached(state);
    if (over !== undefined) return fail(state, port, 'limit.exceeded', over);

    const signals = cuttable(cuts);
    const deeds = await worked(state, port, () => carryOut(state, port, signals));
    state.cutCalls = deeds.cut;
    state.turnDue ||= deeds.decided && !waitsForApproval(state, state.unread);
    if (!state.turnDue && !hasNews(state)) {
      if (!mayDecide(state)) continue;
      return deeds.forwarded.length > 0 && state.questions.length === 0
        ? rest(state, port, { from: 'forwarded', taskIds: deeds.forwarded })
        : restWithQuestions(state, port);
    }

    const at = { exchange: state.exchange, turn: state.turn };
    const outcome = await worked(state, port, () => port.modelTurn(turnInput(state), signals.interrupted));
    if (outcome.kind !== 'ok') {
      // The turn's key is given up: whoever still works on it finds it taken, and what was saved before is read.
      state.interrupted.push(at);
      state.turn += 1;
      state.turnDue = true;
      if (outcome.kind === 'cut' || !mayDecide(state)) continue;
      return failTurn(state, port, outcome.code, outcome.message);
    }
    adoptTurn(state, outcome.value);

    const { calls } = outcome.value;
    if (calls.length > 0) {
      state.unread = at;
      const batch = await worked(state, port, () => runCalls(state, port, at, calls, signals));
      state.cutCalls = batch.cut;
      // A batch that only asks is read with the answer.
      state.turnDue = !batch.asked;
      if (batch.asked && mayDecide(state)) return restWithQuestions(state, port);
      if (batch.asked) await reportToParent(state, port);
      if (isRepeating(state, batch.fingerprints) && mayDecide(state)) {
        const message = `the agent made the same call with the same result ${state.limits.repeatedCalls} times; what should it do?`;
        // Nobody talks to a delegated task: it says so by its end.
        return state.lifecycle === 'delegated'
          ? fail(state, port, 'limit.exceeded', message)
          : rest(state, port, { from: 'failure', code: 'limit.exceeded', message });
      }
      continue;
    }
    state.turnDue = false;
    if (!mayDecide(state)) continue;
    return decide(state, port, outcome.value.decision ?? 'wait', { from: 'turn', ...at });
  }
}

/** What messages do besides being read: decided calls run, answers to sub-tasks go on to them. */
async function carryOut(
  state: CarriedState,
  port: LoopPort,
  signals: CallSignals,
): Promise<{ decided: boolean; forwarded: string[]; cut: CutCall[] }> {
  const done = { decided: false, forwarded: [] as string[], cut: [] as CutCall[] };
  for (const each of [...state.drained]) {
    const deed = deedOf(state, each);
    if (deed === undefined) continue;
    const message = each.type === 'message' ? each.item.key : null;
    if (deed.kind === 'forward') {
      if (message === null) continue;
      await port.forward({ taskId: state.taskId, storeId: state.storeId, key: message, to: deed.to });
      done.forwarded.push(deed.to.taskId);
    } else if (deed.kind === 'decide') {
      const ran = await runDecided(state, port, deed.call, { questionId: deed.questionId, message }, signals);
      done.cut.push(...ran.cut);
      const { exchange, turn, ordinal } = deed.call;
      if (ran.late) state.drained.push({ type: 'outcome', call: { exchange, turn, ordinal } });
      else done.decided = true;
    } else {
      continue;
    }
    if (message !== null) state.done.push(message);
    else state.drained = state.drained.filter((other) => other !== each);
  }
  return done;
}

function deedOf(state: CarriedState, each: Pending): Deed | undefined {
  if (each.type === 'message') return state.done.includes(each.item.key) ? undefined : each.deed;
  if (each.type === 'expired' && each.call) {
    return { kind: 'decide', questionId: each.questionId, call: each.call };
  }
  return undefined;
}

/** True when the model has something new to read. */
function hasNews(state: CarriedState): boolean {
  return state.drained.some((each) => each.type !== 'message' || !state.done.includes(each.item.key));
}

/** True while a call of that turn waits for approval: its results are read together. */
function waitsForApproval(state: CarriedState, at: TurnRef | null): boolean {
  return state.questions.some(({ call }) => call && call.exchange === at?.exchange && call.turn === at.turn);
}

function controlIn(drained: readonly Pending[]): string | undefined {
  for (const each of drained) {
    if (each.type === 'message' && each.item.control === 'complete') return each.item.sender;
  }
  return undefined;
}

function cuttable(cuts: CutSource): CallSignals {
  const [interrupted, canceled] = [createAbort(), createAbort()];
  cuts.cut = (reason) => {
    if (reason === 'cancel') canceled.abort(reason);
    interrupted.abort(reason);
  };
  return { interrupted: interrupted.signal, canceled: canceled.signal };
}

/** Counts the time that work takes, and no wait for a message or for the store (LP-3). */
async function worked<T>(state: CarriedState, port: LoopPort, work: () => Promise<T>): Promise<T> {
  const since = port.now();
  try {
    return await work();
  } finally {
    state.workingMs += port.now() - since;
  }
}

/** Invariant 4: nothing is waiting to be worked on or to end the task. */
function mayDecide(state: CarriedState): boolean {
  return state.mailbox.length === 0 && state.cancelRequestedBy === null;
}

function turnInput(state: CarriedState): TurnInput {
  return {
    taskId: state.taskId,
    storeId: state.storeId,
    exchange: state.exchange,
    turn: state.turn,
    mail: state.drained.map((each) => turnMail(state, each)),
    unread: state.unread,
    interrupted: state.interrupted,
    lifecycle: state.lifecycle,
    conversation: state.conversation,
    openQuestions: state.questions.map((question) => question.id),
    waitingCalls: state.questions.flatMap(({ call }) => (call ? [call.callId] : [])),
    openChildren: state.children.filter((child) => child.state === null || !isTerminal(child.state)).length,
    actors: state.actors,
    tokensTotal: state.tokensTotal,
    costTotal: state.costTotal,
  };
}

function turnMail(state: CarriedState, each: Pending): TurnMail {
  switch (each.type) {
    case 'message': {
      const { key } = each.item;
      const silent = state.done.includes(key) ? { silent: true as const } : {};
      return { type: 'message', key, ...(each.deed ? { answers: each.deed.questionId } : {}), ...silent };
    }
    case 'expired':
      return { type: 'expired', questionId: each.questionId };
    default:
      return each;
  }
}

function adoptTurn(state: CarriedState, output: TurnOutput): void {
  state.turn += 1;
  state.turnsTotal += 1;
  spend(state, output);
  state.unread = null;
  state.interrupted = [];
  state.drained = [];
  state.done = [];
  state.cursors.log = Math.max(state.cursors.log, output.log);
}

function decide(
  state: CarriedState,
  port: LoopPort,
  decision: 'complete' | 'wait' | 'fail',
  text: CommitText,
): Promise<void> {
  switch (decision) {
    case 'complete':
      return complete(state, port, text);
    case 'fail':
      return failWith(state, port, text);
    case 'wait':
      return rest(state, port, text);
    default:
      return assertNever(decision);
  }
}

/** LP-2: a failed turn ends a task in its first exchange, and always one that ends by itself; later it parks. */
function failTurn(state: CarriedState, port: LoopPort, code: ErrorCode, message: string): Promise<void> {
  const mayPark = state.exchange > 1 && !endsByItself(state);
  return mayPark ? rest(state, port, { from: 'failure', code, message }) : fail(state, port, code, message);
}

/** LP-3: the limit that is reached, in words. */
function limitReached(state: CarriedState): string | undefined {
  const { limits } = state;
  if (state.turn >= limits.turnsPerExchange) {
    return `the limit of ${limits.turnsPerExchange} model turns for one exchange is reached (limits.turns_per_exchange)`;
  }
  if (limits.totalTokens !== undefined && state.tokensTotal >= limits.totalTokens) {
    return `the limit of ${limits.totalTokens} tokens is reached (limits.total_tokens)`;
  }
  if (limits.cost !== undefined && (state.costTotal ?? 0) >= limits.cost) {
    return `the limit of ${limits.cost} for what the models cost is reached (limits.cost)`;
  }
  if (limits.workingTimeMs !== undefined && state.workingMs >= limits.workingTimeMs) {
    return `the limit of ${limits.workingTimeMs / 1000} s of work is reached (limits.working_time)`;
  }
  return undefined;
}

function isRepeating(state: CarriedState, fingerprints: readonly string[]): boolean {
  for (const fingerprint of fingerprints) {
    const entry = state.repeated.find((seen) => seen.fingerprint === fingerprint);
    if (entry) entry.count += 1;
    else state.repeated.push({ fingerprint, count: 1 });
  }
  return state.repeated.some((entry) => entry.count >= state.limits.repeatedCalls);
}
