import { HarnessError } from '../base/index.ts';
import type { CarriedState, ChildReport, Deed, MailItem, OpenQuestion, Pending } from './state.ts';
import { isTerminal, type TaskState } from './task.ts';

/** How many accepted ids a workflow remembers; beyond it the mark on the inbox row decides (DU-2). */
const SEEN_WINDOW = 256;

/** What the inbox answers at once, before anything has run (DU-2). */
export interface Receipt {
  readonly messageId: string;
  readonly accepted: boolean;
  readonly duplicate: boolean;
  /** Why it was not accepted, for the sender alone (PC-3). */
  readonly refusal?: string;
  readonly state: TaskState;
  /** The exchange this message starts or joins. */
  readonly exchange: number;
  /** The log's cursor as the loop knows it. */
  readonly cursor: number;
}

/**
 * Refuses while a commit that parks or ends the task is under way (invariant 4): the caller waits for that commit and
 * answers for the state it finds.
 *
 * @throws HarnessError `task.closing`.
 */
export function assertOpen(state: CarriedState, item: MailItem): void {
  if (state.seen.some((seen) => seen.key === item.key)) return;
  if (state.phase === 'closing' || state.phase === 'ended') {
    throw new HarnessError('task.closing', `task ${state.taskId} is ${state.phase}`);
  }
}

/** Takes a message into the mailbox, or says why not. Pure and immediate: no I/O, no wait. */
export function receive(state: CarriedState, item: MailItem): Receipt {
  const known = state.seen.find((seen) => seen.key === item.key);
  if (known) return receipt(state, item, { accepted: true, duplicate: true, exchange: known.exchange });

  const exchange = state.phase === 'working' ? state.exchange : state.exchange + 1;
  const found = item.command === undefined ? meant(state, item) : undefined;
  const refusal = refusalFor(state, item, found);
  if (refusal !== undefined) {
    return { ...receipt(state, item, { accepted: false, duplicate: false, exchange }), refusal };
  }
  if (item.command !== undefined) {
    state.commands.push(item);
  } else {
    if (found) state.questions = state.questions.filter((open) => open.id !== found.id);
    state.mailbox.push({ type: 'message', item, ...(found ? { deed: deedOf(found) } : {}) });
  }
  state.seen.push({ key: item.key, exchange });
  if (state.seen.length > SEEN_WINDOW) state.seen.shift();
  return receipt(state, item, { accepted: true, duplicate: false, exchange });
}

/** Takes in what a sub-task reports: its state, the questions it has, its end (DU-8, ST-3). Older news change nothing. */
export function receiveReport(state: CarriedState, report: ChildReport): void {
  const known = state.children.find((child) => child.taskId === report.taskId);
  if (known && (known.report >= report.report || isEnded(known.state))) return;
  adoptChild(state, { taskId: report.taskId, state: report.state, report: report.report });
  const others = state.questions.filter((open) => open.origin?.taskId !== report.taskId);
  state.questions = [...others, ...report.questions.flatMap((question) => mirrored(report.taskId, question))];
  if (isEnded(report.state)) state.mailbox.push({ type: 'child', taskId: report.taskId });
}

/** Notes a sub-task. What a report has said of it already stands. */
export function adoptChild(state: CarriedState, child: CarriedState['children'][number]): void {
  const known = state.children.find((each) => each.taskId === child.taskId);
  if (known && known.report >= child.report) return;
  state.children = [...state.children.filter((each) => each !== known), child];
}

/** True while a sub-task has not ended. */
export function hasOpenChildren(state: CarriedState): boolean {
  return state.children.some((child) => !isEnded(child.state));
}

/** Turns questions whose time is over into mail (PC-14). A sub-task looks after its own. */
export function expireQuestions(state: CarriedState, now: number): void {
  const over = state.questions.filter(({ origin, expiresAt }) => !origin && (expiresAt ?? now + 1) <= now);
  if (over.length === 0) return;
  state.questions = state.questions.filter((open) => !over.includes(open));
  for (const { id, call } of over) {
    state.mailbox.push({ type: 'expired', questionId: id, ...(call ? { call } : {}) });
  }
}

/** Empties the mailbox and notes whose messages joined the exchange. */
export function drain(state: CarriedState): readonly Pending[] {
  const mail = state.mailbox.splice(0);
  for (const each of mail) {
    if (each.type === 'message' && !state.actors.includes(each.item.sender))
      state.actors.push(each.item.sender);
  }
  return mail;
}

function receipt(
  state: CarriedState,
  item: MailItem,
  verdict: Pick<Receipt, 'accepted' | 'duplicate' | 'exchange'>,
): Receipt {
  return { messageId: item.messageId, state: state.state, cursor: state.cursors.log, ...verdict };
}

function isEnded(state: TaskState | null): boolean {
  return state !== null && isTerminal(state);
}

/** A sub-task's question as one of this task's; none when it was never shown here. */
function mirrored(taskId: string, question: OpenQuestion): OpenQuestion[] {
  const [id, ...surfaced] = question.surfaced;
  if (id === undefined) return [];
  const { call: _, origin: __, ...rest } = question;
  return [{ ...rest, id, surfaced, origin: { taskId, questionId: question.id } }];
}

function deedOf({ id, call, origin }: OpenQuestion): Deed {
  if (origin) return { kind: 'forward', questionId: id, to: origin };
  return call ? { kind: 'decide', questionId: id, call } : { kind: 'answer', questionId: id };
}

/** PC-3, PC-4, PC-10, PC-12: why this member's message is not accepted. */
function refusalFor(
  state: CarriedState,
  item: MailItem,
  found: OpenQuestion | undefined,
): string | undefined {
  if (isTerminal(state.state)) return `the task is ${state.state}`;
  if (item.control === 'complete' && hasOpenChildren(state)) return 'the task has open sub-tasks';
  if (found?.approval) return verdictRefusal(found, item);
  if (item.verdict?.explicit) return 'there is no call that waits for this decision';
  if (found && !found.participantIds.includes(item.sender) && item.role !== 'admin') {
    return 'that question was asked of somebody else';
  }
  return undefined;
}

/** Why a decision does not count (PC-12): only those who were asked decide, and only about what they were shown. */
function verdictRefusal(question: OpenQuestion, item: MailItem): string | undefined {
  const { verdict } = item;
  if (item.kind === 'agent') return 'an agent may not approve a call';
  if (!question.participantIds.includes(item.sender)) return 'that decision is for somebody else';
  if (verdict?.explicit !== true) return undefined;
  if (verdict.callId !== question.approval?.callId) return 'that decision names another call';
  if (verdict.argumentsHash !== question.approval?.argumentsHash) {
    return 'that decision is about other arguments than the call has';
  }
  return undefined;
}

/**
 * The open question a message answers: the one it names; else the only call that waits for its sender's decision, when
 * it is one; else the oldest question asked of its sender (PC-4, PC-12).
 */
function meant(state: CarriedState, item: MailItem): OpenQuestion | undefined {
  if (item.control !== undefined) return undefined;
  const { inReplyTo, verdict, sender } = item;
  if (inReplyTo !== undefined) {
    const named = state.questions.find((open) => open.id === inReplyTo);
    // "Sure, but only 10" is no decision: it is read like any other message, and the call goes on waiting.
    return named?.approval && verdict === undefined ? undefined : named;
  }
  const asked = state.questions.filter((open) => open.participantIds.includes(sender));
  if (verdict !== undefined) {
    const waiting = asked.filter((open) => open.approval !== undefined);
    const named = waiting.filter((open) => open.approval?.callId === verdict.callId);
    const exact = named.find((open) => open.approval?.argumentsHash === verdict.argumentsHash);
    if (exact ?? named[0]) return exact ?? named[0];
    if (waiting.length === 1 && item.kind === 'human') return waiting[0];
  }
  return asked.find((open) => open.approval === undefined);
}
