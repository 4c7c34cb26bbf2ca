import { assertNever, createAbort, type ErrorCode } from '../base/index.ts';
import { runCalls } from './calls.ts';
import { drain } from './mailbox.ts';
import type { CommitText, CutCall, LoopPort, TurnInput, TurnOutput } from './port.ts';
import type { CarriedState } from './state.ts';
import { isTerminal, type SubState, type TaskState } from './task.ts';

/*
 * Invariants (numbered as in the durable design; tests name them)
 * 1. Effects are keyed by (task, exchange, turn, call): a repeated one finds what is stored.
 * 3. A state change is decided here and recorded by a commit. The first terminal state wins, and the loop adopts it.
 * 4. A decision to park or end is adopted only while the mailbox is empty; from then to its commit the inbox is closed.
 * 5. What an effect needs and is not in its input it reads from the store.
 */

/** Why `runTask` returned: the task ended, or its state is to be carried over to a fresh run. */
export type RunEnd = 'ended' | 'carry_over';

/**
 * Runs a task to its end: waits for messages, runs exchanges, commits what comes of them. Pure: everything that
 * happens outside goes through `port`, and all it knows is in `state`.
 */
export async function runTask(state: CarriedState, port: LoopPort, cuts: CutSource): Promise<RunEnd> {
  while (state.phase !== 'ended') {
    await port.until(() => state.mailbox.length > 0 || state.cancelRequestedBy !== null);
    if (state.cancelRequestedBy !== null && state.mailbox.length === 0) {
      await commitCanceled(state, port, []);
      continue;
    }
    // Carried over with the message in the mailbox: an idle task is left alone, and nothing arrives in between.
    if (port.shouldCarryOver()) return 'carry_over';
    await runExchange(state, port, cuts);
  }
  return 'ended';
}

/**
 * Why what runs is to stop. `cancel`: everything gets its cancellation. `interrupt`: model calls and calls that are safe
 * to repeat are cut, other calls are waited for, and the exchange goes on with the mail that came (LP-4).
 */
export type CutReason = 'cancel' | 'interrupt';

/** Stops what runs: set while a turn runs, called by whoever receives a cancel, a control or an interrupt. */
export interface CutSource {
  cut: ((reason: CutReason) => void) | null;
}

async function runExchange(state: CarriedState, port: LoopPort, cuts: CutSource): Promise<void> {
  state.phase = 'working';
  state.state = 'WORKING';
  state.exchange += 1;
  state.turn = 0;
  state.actors = [];
  state.repeated = [];
  try {
    await turns(state, port, cuts);
  } finally {
    cuts.cut = null;
  }
}

async function turns(state: CarriedState, port: LoopPort, cuts: CutSource): Promise<void> {
  let cutCalls: readonly CutCall[] = [];
  for (;;) {
    state.drained.push(...drain(state));
    if (state.cancelRequestedBy !== null) return commitCanceled(state, port, cutCalls);
    const control = state.drained.find((item) => item.control === 'complete');
    if (control) return commitCompletedBy(state, port, control.sender);
    const over = limitReached(state);
    if (over !== undefined) return fail(state, port, 'limit.exceeded', over);

    const [interrupted, canceled] = [createAbort(), createAbort()];
    cuts.cut = (reason) => {
      if (reason === 'cancel') canceled.abort(reason);
      interrupted.abort(reason);
    };
    const at = { exchange: state.exchange, turn: state.turn };
    cutCalls = [];
    const outcome = await worked(state, port, () => port.modelTurn(turnInput(state), interrupted.signal));
    if (outcome.kind !== 'ok') {
      // The turn's key is given up: whoever still works on it finds it taken, and what was saved before is read.
      state.interrupted.push(at);
      state.turn += 1;
      if (outcome.kind === 'cut' || !mayDecide(state)) continue;
      return failTurn(state, port, outcome.code, outcome.message);
    }
    adoptTurn(state, outcome.value);

    const { calls } = outcome.value;
    if (calls.length > 0) {
      state.unread = at;
      const signals = { interrupted: interrupted.signal, canceled: canceled.signal };
      const batch = await worked(state, port, () => runCalls(state, port, at, calls, signals));
      cutCalls = batch.cut;
      if (batch.asked && mayDecide(state)) return park(state, port, 'awaiting-answer', { from: 'questions' });
      if (isRepeating(state, batch.fingerprints) && mayDecide(state)) {
        const message = `the agent made the same call with the same result ${state.limits.repeatedCalls} times; what should it do?`;
        return park(state, port, 'awaiting-next-message', {
          from: 'failure',
          code: 'limit.exceeded',
          message,
        });
      }
      continue;
    }
    if (!mayDecide(state)) continue;
    return decide(state, port, outcome.value.decision ?? 'wait', { from: 'turn', ...at });
  }
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
    mail: state.drained.map(({ key, answers }) => (answers === undefined ? { key } : { key, answers })),
    unread: state.unread,
    interrupted: state.interrupted,
    lifecycle: state.lifecycle,
    conversation: state.conversation,
    openQuestions: state.questions.map((question) => question.id),
    openChildren: state.children.filter((child) => child.state === null || !isTerminal(child.state)).length,
    model: state.settings.model,
    effort: state.settings.effort,
  };
}

function adoptTurn(state: CarriedState, output: TurnOutput): void {
  state.turn += 1;
  state.turnsTotal += 1;
  state.tokensTotal += output.tokens;
  state.unread = null;
  state.interrupted = [];
  state.drained = [];
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
      return commit(state, port, 'COMPLETED', null, text);
    case 'fail':
      return commit(state, port, 'FAILED', null, text);
    case 'wait':
      return park(
        state,
        port,
        state.questions.length > 0 ? 'awaiting-answer' : 'awaiting-next-message',
        text,
      );
    default:
      return assertNever(decision);
  }
}

function park(state: CarriedState, port: LoopPort, subState: SubState, text: CommitText): Promise<void> {
  return commit(state, port, 'INPUT_REQUIRED', subState, text);
}

/** LP-2: a failed turn ends a task in its first exchange, and always a single or delegated one; later it parks. */
function failTurn(state: CarriedState, port: LoopPort, code: ErrorCode, message: string): Promise<void> {
  const mayPark = state.exchange > 1 && state.conversation === 'open' && state.lifecycle === 'conversation';
  if (!mayPark) return fail(state, port, code, message);
  const subState = state.questions.length > 0 ? 'awaiting-answer' : 'awaiting-next-message';
  return park(state, port, subState, { from: 'failure', code, message });
}

function fail(state: CarriedState, port: LoopPort, code: ErrorCode, message: string): Promise<void> {
  return commit(state, port, 'FAILED', null, { from: 'failure', code, message });
}

function commitCompletedBy(state: CarriedState, port: LoopPort, participantId: string): Promise<void> {
  return commit(state, port, 'COMPLETED', null, { from: 'completed_by', participantId });
}

function commitCanceled(state: CarriedState, port: LoopPort, calls: readonly CutCall[]): Promise<void> {
  const by = state.cancelRequestedBy ?? state.agentId;
  return commit(state, port, 'CANCELED', null, { from: 'canceled', by, calls });
}

/**
 * Closes the inbox, records the state, and opens it again or ends the task. Mail that no turn has adopted is answered
 * for by this commit, and stays in `drained` so that the next turn, if there is one, reads it too.
 */
async function commit(
  state: CarriedState,
  port: LoopPort,
  next: TaskState,
  subState: SubState | null,
  text: CommitText,
): Promise<void> {
  state.phase = 'closing';
  const key = `state:${state.commits}`;
  state.commits += 1;
  const output = await port.commit({
    taskId: state.taskId,
    storeId: state.storeId,
    key,
    exchange: state.exchange,
    state: next,
    subState,
    text,
    questions: isTerminal(next) ? [] : state.questions.map((question) => question.id),
    consumed: state.drained.map((item) => item.key),
  });
  state.state = output.state;
  state.cursors.log = Math.max(state.cursors.log, output.log);
  state.phase = isTerminal(output.state) ? 'ended' : 'parked';
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
