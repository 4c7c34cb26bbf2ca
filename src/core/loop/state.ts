import type { Lifecycle, ParticipantKind, ParticipantRole, TaskState } from './task.ts';

/** What the loop knows of one accepted message: ids and decisions, never content (LP-8). */
export interface MailItem {
  /** Key of the inbox row that holds the content. */
  readonly key: string;
  readonly messageId: string;
  readonly sender: string;
  /** What its sender is on the task, as it was when the message was handed to the loop (PC-10). */
  readonly role: ParticipantRole;
  readonly kind: ParticipantKind;
  /** A2A's wish to cut the running turn (LP-4). */
  readonly interrupt?: boolean;
  /** The `control` envelope: end the conversation. */
  readonly control?: 'complete';
  /** For a first message: the kind of conversation its sender wants (LP-2). */
  readonly conversation?: 'open' | 'single';
  /** The question a channel part names in `in_reply_to`. */
  readonly inReplyTo?: string;
  /** A decision about a call that waits for approval (PC-12). */
  readonly verdict?: Verdict;
  /** The slash command it is: it runs beside the conversation, and no turn reads it. */
  readonly command?: string;
}

/** What a message says of a call that waits for approval. */
export interface Verdict {
  readonly decision: 'approve' | 'deny';
  /** Said in so many words (`help_reply` with an approval part), or a text that is exactly one of the options. */
  readonly explicit: boolean;
  readonly remember: boolean;
  readonly callId?: string;
  readonly argumentsHash?: string;
}

/** Names one call of one turn. */
export interface CallRef extends TurnRef {
  readonly ordinal: number;
}

/** A call that was cut, and what is known of it (LP-5). */
export interface CutCall extends CallRef {
  readonly outcome: 'stopped' | 'finished' | 'unknown';
}

/** What a message does besides being read: it answers a question here or in a sub-task, or decides about a call. */
export type Deed =
  | { readonly kind: 'answer'; readonly questionId: string }
  | { readonly kind: 'decide'; readonly questionId: string; readonly call: WaitingCall }
  | { readonly kind: 'forward'; readonly questionId: string; readonly to: QuestionOrigin };

/** What waits to be worked on, in the order in which it came. */
export type Pending =
  | { readonly type: 'message'; readonly item: MailItem; readonly deed?: Deed }
  /** A sub-task ended. */
  | { readonly type: 'child'; readonly taskId: string }
  /** Nobody answered in time (PC-14); for an approval that is a denial. */
  | { readonly type: 'expired'; readonly questionId: string; readonly call?: WaitingCall }
  /** An approved call ran after its turn was read: its outcome comes on its own. */
  | { readonly type: 'outcome'; readonly call: CallRef };

/** An id the inbox has accepted, and the exchange its receipt named. */
export interface SeenMessage {
  readonly key: string;
  readonly exchange: number;
}

/** The question of a sub-task that one of this task stands for (ST-3). */
export interface QuestionOrigin {
  readonly taskId: string;
  readonly questionId: string;
}

/** A call that runs once somebody has approved it (PC-12). */
export interface WaitingCall extends CallRef {
  readonly callId: string;
  readonly kind: 'tool' | 'help' | 'spawn';
  readonly repeatable: boolean;
  readonly argumentsHash: string;
}

/** A question that waits for its answer (PC-4), or a call that waits for a decision (PC-12). */
export interface OpenQuestion {
  /** Message id of the message that carries it: `<task>:help:<seq>`. */
  readonly id: string;
  /** Who may answer, besides the task's admins; for an approval, exactly who may decide. */
  readonly participantIds: readonly string[];
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number;
  readonly approval?: { readonly callId: string; readonly argumentsHash: string };
  /** The call, when it is one of this task. */
  readonly call?: WaitingCall;
  /** Absent: a question of this task itself. */
  readonly origin?: QuestionOrigin;
  /** Ids of the questions that stand for it on this task's parent, on its parent, and so on. */
  readonly surfaced: readonly string[];
}

/** A sub-task and what its last report said. */
export interface ChildLink {
  readonly taskId: string;
  readonly state: TaskState | null;
  /** Number of its last report. */
  readonly report: number;
}

/** What a sub-task tells its parent whenever its state or its questions change (DU-8). */
export interface ChildReport {
  readonly taskId: string;
  /** Counts up; an older report changes nothing. */
  readonly report: number;
  readonly state: TaskState;
  readonly questions: readonly OpenQuestion[];
}

export interface LoadedSkill {
  readonly name: string;
  readonly version: string | null;
}

/** The bounds of LP-3; absent means unbounded. */
export interface LoopLimits {
  readonly turnsPerExchange: number;
  readonly totalTokens?: number;
  readonly workingTimeMs?: number;
  /** In the currency of the models' prices. */
  readonly cost?: number;
  readonly repeatedCalls: number;
}

/**
 * - `parked`: waiting for a message; `working`: an exchange runs; `closing`: a commit that parks or ends is under way
 * (the inbox takes nothing); `ended`: terminal.
 */
export type LoopPhase = 'parked' | 'working' | 'closing' | 'ended';

/** Names one turn of one exchange. */
export interface TurnRef {
  readonly exchange: number;
  readonly turn: number;
}

/**
 * The whole state of a task's workflow (LP-8): what continue-as-new carries. It holds ids and decisions; content lives
 * in the store. A test fails when the loop keeps state outside it.
 */
export interface CarriedState {
  readonly version: 1;
  readonly taskId: string;
  readonly contextId: string;
  readonly agentId: string;
  /** Identity of the store the task lives in (DU-13). */
  readonly storeId: string;
  readonly lifecycle: Lifecycle;
  readonly conversation: 'open' | 'single';
  /** Who does the work: this agent, or a participant whom it was given to (PC-6). */
  readonly worker: 'agent' | 'participant';
  /** The task this one is a sub-task of, in the same store. */
  readonly parent: string | null;
  readonly limits: LoopLimits;
  readonly searchAttributes: boolean;
  phase: LoopPhase;
  state: TaskState;
  /** 0 before the first exchange. */
  exchange: number;
  /** Of the current exchange, counted from 0. */
  turn: number;
  /** Senders whose messages were drained into the current exchange (LP-7). */
  actors: string[];
  /** The last turn whose calls have results that no transcript holds yet. */
  unread: TurnRef | null;
  /** The exchange has a turn to come even without mail: results to read, or an answer that was cut or failed. */
  turnDue: boolean;
  /** Calls of the last batch that were cut. */
  cutCalls: readonly CutCall[];
  /** Turns that were cut, until the next one has taken their keys. */
  interrupted: TurnRef[];
  /** Commits made; numbers their keys. */
  commits: number;
  turnsTotal: number;
  tokensTotal: number;
  /** Null until something that has a price was used. */
  costTotal: number | null;
  workingMs: number;
  /** Fingerprints of calls of this exchange, with how often each came (LP-3). */
  repeated: { fingerprint: string; count: number }[];
  mailbox: Pending[];
  /** Taken from the mailbox, and adopted by no turn yet. */
  drained: Pending[];
  /** Of `drained`, keys of messages whose deed is done: no turn needs to read them. */
  done: string[];
  /** Slash commands that have not run yet. */
  commands: MailItem[];
  seen: SeenMessage[];
  questions: OpenQuestion[];
  /** Ids of the questions that the last status showed. */
  shown: string[];
  children: ChildLink[];
  /** Reports made to the parent. */
  reports: number;
  skills: LoadedSkill[];
  /** Prefix epoch of the context (CW-2). */
  epoch: number;
  /** The log's cursor, as far as the loop has heard. */
  cursors: { log: number };
  /** Who asked to cancel, once somebody did. */
  cancelRequestedBy: string | null;
}

/** Counts what answers of the model took. */
export function spend(
  state: CarriedState,
  { tokens, cost }: { readonly tokens: number; readonly cost?: number },
): void {
  state.tokensTotal += tokens;
  if (cost !== undefined) state.costTotal = (state.costTotal ?? 0) + cost;
}

/** What a new task starts with. */
export interface NewTaskState {
  readonly taskId: string;
  readonly contextId: string;
  readonly agentId: string;
  readonly storeId: string;
  readonly lifecycle: Lifecycle;
  readonly conversation: 'open' | 'single';
  readonly worker: CarriedState['worker'];
  readonly parent: string | null;
  readonly limits: LoopLimits;
  readonly searchAttributes: boolean;
  /** The first message: it is in the start arguments, so a lost update loses nothing. */
  readonly first: MailItem;
  readonly logCursor: number;
}

/** The state of a task nothing has run for yet, with its first message in the mailbox. */
export function createState(task: NewTaskState): CarriedState {
  const { first, logCursor, ...fixed } = task;
  return {
    version: 1,
    ...fixed,
    phase: 'parked',
    state: 'SUBMITTED',
    exchange: 0,
    turn: 0,
    actors: [],
    unread: null,
    turnDue: false,
    cutCalls: [],
    interrupted: [],
    commits: 0,
    turnsTotal: 0,
    tokensTotal: 0,
    costTotal: null,
    workingMs: 0,
    repeated: [],
    mailbox: [{ type: 'message', item: first }],
    drained: [],
    done: [],
    commands: [],
    seen: [{ key: first.key, exchange: 1 }],
    questions: [],
    shown: [],
    children: [],
    reports: 0,
    skills: [],
    epoch: 1,
    cursors: { log: logCursor },
    cancelRequestedBy: null,
  };
}
