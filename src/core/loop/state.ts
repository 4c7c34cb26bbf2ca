import type { ReasoningEffort } from '../models/index.ts';
import type { Lifecycle, Participant, SubState, TaskState } from './task.ts';

/** What the loop knows of one accepted message: ids and decisions, never content (LP-8). */
export interface MailItem {
  /** Key of the inbox row that holds the content. */
  readonly key: string;
  readonly messageId: string;
  readonly sender: string;
  /** A2A's wish to cut the running turn (LP-4). */
  readonly interrupt?: boolean;
  /** The `control` envelope: end the conversation. */
  readonly control?: 'complete';
  /** For a first message: the kind of conversation its sender wants (LP-2). */
  readonly conversation?: 'open' | 'single';
  /** The question a channel part names in `in_reply_to`. */
  readonly inReplyTo?: string;
  /** The open question this message was found to answer. */
  readonly answers?: string;
}

/** An id the inbox has accepted, and the exchange its receipt named. */
export interface SeenMessage {
  readonly key: string;
  readonly exchange: number;
}

/** A question that waits for its answer (PC-4). */
export interface OpenQuestion {
  /** Message id of the message that carries it: `<task>:help:<seq>`. */
  readonly id: string;
  readonly participantId: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number;
}

/** A tool call that waits for a person's decision (PC-12). */
export interface OpenApproval {
  readonly id: string;
  readonly exchange: number;
  readonly turn: number;
  readonly ordinal: number;
  readonly argumentsHash: string;
  readonly expiresAt?: number;
}

/** A rule that a person's "remember" added for this task (PC-12). */
export interface RememberedRule {
  readonly tool: string;
  readonly decision: 'allow' | 'deny';
  readonly by: string;
}

/** A sub-task and what its last report said. */
export interface ChildLink {
  readonly taskId: string;
  readonly agent: string | null;
  readonly step: string | null;
  readonly state: TaskState | null;
  readonly subState: SubState | null;
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
  readonly limits: LoopLimits;
  readonly searchAttributes: boolean;
  participants: readonly Pick<Participant, 'id' | 'kind' | 'role'>[];
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
  /** Turns that were cut, until the next one has taken their keys. */
  interrupted: TurnRef[];
  /** Commits made; numbers their keys. */
  commits: number;
  turnsTotal: number;
  tokensTotal: number;
  workingMs: number;
  /** Fingerprints of calls of this exchange, with how often each came (LP-3). */
  repeated: { fingerprint: string; count: number }[];
  mailbox: MailItem[];
  /** Taken from the mailbox, and adopted by no turn yet. */
  drained: MailItem[];
  seen: SeenMessage[];
  questions: OpenQuestion[];
  approvals: OpenApproval[];
  rules: RememberedRule[];
  children: ChildLink[];
  skills: LoadedSkill[];
  settings: { model: string | null; effort: ReasoningEffort | null };
  /** Prefix epoch of the context (CW-2). */
  epoch: number;
  /** The log's cursor, as far as the loop has heard. */
  cursors: { log: number };
  /** Who asked to cancel, once somebody did. */
  cancelRequestedBy: string | null;
}

/** What a new task starts with. */
export interface NewTaskState {
  readonly taskId: string;
  readonly contextId: string;
  readonly agentId: string;
  readonly storeId: string;
  readonly lifecycle: Lifecycle;
  readonly conversation: 'open' | 'single';
  readonly limits: LoopLimits;
  readonly searchAttributes: boolean;
  readonly participants: CarriedState['participants'];
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
    interrupted: [],
    commits: 0,
    turnsTotal: 0,
    tokensTotal: 0,
    workingMs: 0,
    repeated: [],
    mailbox: [first],
    drained: [],
    seen: [{ key: first.key, exchange: 1 }],
    questions: [],
    approvals: [],
    rules: [],
    children: [],
    skills: [],
    settings: { model: null, effort: null },
    epoch: 1,
    cursors: { log: logCursor },
    cancelRequestedBy: null,
  };
}
