import { HarnessError } from '../base/index.ts';
import type { CarriedState, MailItem, OpenQuestion } from './state.ts';
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
  const refusal = refusalFor(state, item);
  if (refusal !== undefined) {
    return { ...receipt(state, item, { accepted: false, duplicate: false, exchange }), refusal };
  }
  const question = item.control === undefined ? questionFor(state, item) : undefined;
  if (question) state.questions = state.questions.filter((open) => open.id !== question.id);
  state.mailbox.push(question ? { ...item, answers: question.id } : item);
  state.seen.push({ key: item.key, exchange });
  if (state.seen.length > SEEN_WINDOW) state.seen.shift();
  return receipt(state, item, { accepted: true, duplicate: false, exchange });
}

/** Empties the mailbox and notes whose messages joined the exchange. */
export function drain(state: CarriedState): readonly MailItem[] {
  const mail = state.mailbox.splice(0);
  for (const item of mail) if (!state.actors.includes(item.sender)) state.actors.push(item.sender);
  return mail;
}

function receipt(
  state: CarriedState,
  item: MailItem,
  verdict: Pick<Receipt, 'accepted' | 'duplicate' | 'exchange'>,
): Receipt {
  return { messageId: item.messageId, state: state.state, cursor: state.cursors.log, ...verdict };
}

/** PC-3, PC-4, PC-10: why this member's message is not accepted. */
function refusalFor(state: CarriedState, item: MailItem): string | undefined {
  if (isTerminal(state.state)) return `the task is ${state.state}`;
  const member = state.participants.find((participant) => participant.id === item.sender);
  if (member === undefined) return 'you are not on the channel of this task';
  if (member.role === 'watcher') return 'a watcher may read this task but not write to it';
  if (
    item.control === 'complete' &&
    state.children.some((child) => child.state === null || !isTerminal(child.state))
  ) {
    return 'the task has open sub-tasks';
  }
  if (item.inReplyTo !== undefined) {
    const question = state.questions.find((open) => open.id === item.inReplyTo);
    if (question && question.participantId !== item.sender && member.role !== 'admin') {
      return 'that question was asked of somebody else';
    }
  }
  return undefined;
}

/** The open question a message answers: the one it names, else the oldest one asked of its sender (PC-4). */
function questionFor(state: CarriedState, item: MailItem): OpenQuestion | undefined {
  return item.inReplyTo === undefined
    ? state.questions.find((open) => open.participantId === item.sender)
    : state.questions.find((open) => open.id === item.inReplyTo);
}
