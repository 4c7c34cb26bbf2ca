import type { ErrorCode } from '../base/index.ts';
import { hasOpenChildren } from './mailbox.ts';
import type { CommitText, LoopPort } from './port.ts';
import type { CarriedState, CutCall } from './state.ts';
import { isTerminal, type SubState, type TaskState } from './task.ts';

/** A state and why the task is in it. */
interface Status {
  readonly state: TaskState;
  readonly subState: SubState | null;
}

/** True for a task that ends by itself: a delegated one, or a conversation of one exchange (LP-2). */
export function endsByItself(state: CarriedState): boolean {
  return state.lifecycle === 'delegated' || state.conversation === 'single';
}

/**
 * What a task is while nothing runs (LP-2): it waits for an answer, for its sub-tasks, or for the next message. One that
 * ends by itself stays WORKING while only sub-tasks are awaited.
 */
function restingStatus(state: CarriedState): Status {
  if (state.questions.length > 0) return { state: 'INPUT_REQUIRED', subState: 'awaiting-answer' };
  if (state.worker === 'participant') return { state: 'INPUT_REQUIRED', subState: null };
  if (hasOpenChildren(state) && endsByItself(state)) return { state: 'WORKING', subState: null };
  return { state: 'INPUT_REQUIRED', subState: 'awaiting-next-message' };
}

/** True when a parked task's status does not say what it waits for any more: a sub-task asked, or was answered. */
export function isOutdated(state: CarriedState): boolean {
  if (state.phase !== 'parked' || state.exchange === 0) return false;
  const open = state.questions.map(({ id }) => id);
  const sameQuestions = open.length === state.shown.length && open.every((id) => state.shown.includes(id));
  return !sameQuestions || restingStatus(state).state !== state.state;
}

/** Parks the task. */
export function rest(state: CarriedState, port: LoopPort, text: CommitText): Promise<void> {
  return commit(state, port, restingStatus(state), text);
}

/** Parks the task with what it waits for as its status message. */
export function restWithQuestions(state: CarriedState, port: LoopPort): Promise<void> {
  return rest(state, port, state.questions.length > 0 ? { from: 'questions' } : { from: 'nothing' });
}

export function complete(state: CarriedState, port: LoopPort, text: CommitText): Promise<void> {
  return commit(state, port, { state: 'COMPLETED', subState: null }, text);
}

export function fail(state: CarriedState, port: LoopPort, code: ErrorCode, message: string): Promise<void> {
  return failWith(state, port, { from: 'failure', code, message });
}

export function failWith(state: CarriedState, port: LoopPort, text: CommitText): Promise<void> {
  return commit(state, port, { state: 'FAILED', subState: null }, text);
}

export function commitCanceled(
  state: CarriedState,
  port: LoopPort,
  calls: readonly CutCall[],
): Promise<void> {
  const by = state.cancelRequestedBy ?? state.agentId;
  return commit(state, port, { state: 'CANCELED', subState: null }, { from: 'canceled', by, calls });
}

/**
 * Closes the inbox, records the state, and opens it again or ends the task, its sub-tasks with it. Mail that no turn has
 * adopted is answered for by this commit, and stays in `drained` so that the next turn, if there is one, reads it too.
 */
async function commit(
  state: CarriedState,
  port: LoopPort,
  { state: next, subState }: Status,
  text: CommitText,
): Promise<void> {
  state.phase = 'closing';
  const key = `state:${state.commits}`;
  state.commits += 1;
  const questions = isTerminal(next) ? [] : state.questions.map((question) => question.id);
  const output = await port.commit({
    taskId: state.taskId,
    storeId: state.storeId,
    key,
    exchange: state.exchange,
    turn: state.turn,
    tokensTotal: state.tokensTotal,
    costTotal: state.costTotal,
    state: next,
    subState,
    text,
    questions,
    consumed: state.drained.flatMap((each) => (each.type === 'message' ? [each.item.key] : [])),
  });
  state.drained = state.drained.filter(
    (each) => each.type !== 'message' || !state.done.includes(each.item.key),
  );
  state.done = [];
  state.shown = questions;
  state.state = output.state;
  state.cursors.log = Math.max(state.cursors.log, output.log);
  state.phase = isTerminal(output.state) ? 'ended' : 'parked';
  if (state.phase === 'ended') await cancelChildren(state, port);
  await reportToParent(state, port);
}

/** A task that ended takes its open sub-tasks with it (LP-5). */
async function cancelChildren(state: CarriedState, port: LoopPort): Promise<void> {
  const open = state.children.filter((child) => child.state === null || !isTerminal(child.state));
  const by = state.cancelRequestedBy ?? state.agentId;
  await Promise.all(open.map((child) => port.cancelChild(child.taskId, by)));
}

/** Tells the parent's loop how this task stands (DU-8). */
export async function reportToParent(state: CarriedState, port: LoopPort): Promise<void> {
  if (state.parent === null) return;
  state.reports += 1;
  await port.report(state.parent, {
    taskId: state.taskId,
    report: state.reports,
    state: state.state,
    questions: state.phase === 'ended' ? [] : state.questions,
  });
}
