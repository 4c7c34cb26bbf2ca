import type { TaskBrief, TaskUpdate } from '../extensions/index.ts';
import type {
  CarriedState,
  MailItem,
  NewTaskState,
  Participant,
  Receipt,
  TaskData,
  Verdict,
} from '../loop/index.ts';
import type { InboundMessage, TaskRow } from '../persistence/index.ts';

/** A message as a surface hands it over: parsed, its sender known, nothing stored yet. */
export interface InboundRequest {
  readonly sender: string;
  readonly senderKind: Participant['kind'];
  readonly messageId: string;
  /** Absent for a first message. */
  readonly taskId?: string;
  readonly contextId?: string;
  readonly message: InboundMessage;
  /** SHA-256 of the message as it came. */
  readonly bodyHash: string;
  /** What the model will read. */
  readonly text: string;
  readonly interrupt: boolean;
  readonly conversation?: 'open' | 'single';
  /** The `task` envelope of a first message: the data of the new task. */
  readonly brief?: TaskBrief;
  /** The `task` envelope of a later one: what is to change. */
  readonly update?: TaskUpdate;
  readonly control?: 'complete';
  /** A decision about a call (PC-12). */
  readonly verdict?: Verdict;
  /** The channel part, if there is one. */
  readonly channel?: { readonly channelId: string; readonly inReplyTo?: string };
}

/** What came of a message. */
export interface AdmissionOutcome {
  /**
   * `accepted`: the loop has it. `applied`: it changed the task's data, and no loop works on it. `command`: it runs as a
   * slash command beside the conversation. `refused`: it was not accepted.
   */
  readonly kind: 'accepted' | 'applied' | 'command' | 'refused';
  /** The task as it was stored before the message was handed to the loop: what a stream starts with. */
  readonly task: TaskRow;
  /** Key of the message. */
  readonly key: string;
  /** The exchange the message started or joined. */
  readonly exchange: number;
  readonly duplicate: boolean;
  /** For `refused`: why, for the sender alone (PC-3). */
  readonly reason?: string;
}

/** A sub-task of this agent, whose first message is its own. */
export interface SubtaskRequest {
  /** Unique for what it is for: the same one again is the same task. */
  readonly messageId: string;
  readonly contextId: string;
  readonly text: string;
  readonly data: TaskData;
}

/** Takes messages in. @throws HarnessError with an `input.*`, `task.*`, `store*` or `*_unavailable` code. */
export interface AdmissionPort {
  /**
   * `stored` is called once, when the message is stored and before the loop has it, with the task as it is then: whoever
   * wants to see everything it causes begins to listen there. It must not throw.
   */
  admit(request: InboundRequest, stored?: (task: TaskRow) => void): Promise<AdmissionOutcome>;
  /** Opens a sub-task with the agent as its sender, and starts it (ST-1); returns its id. @throws HookAbort too. */
  open(request: SubtaskRequest): Promise<string>;
}

/** What came of handing a message to the loop. */
export type Delivery =
  | { readonly kind: 'receipt'; readonly receipt: Receipt }
  /** A commit that parks or ends is under way: wait for it, then try again or answer for the end (invariant 4). */
  | { readonly kind: 'closing' }
  /** There is no running loop for this task. */
  | { readonly kind: 'ended' };

/** What became of a task's loop. */
export type LoopFate =
  | { readonly kind: 'running' }
  /** Nobody has heard of it. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'ended'; readonly reason: string };

/** The way from the server to a task's loop. @throws HarnessError `worker_unavailable`, `temporal_unavailable`. */
export interface DeliveryPort {
  /** Starts the task's loop with its first message, or joins the one that runs. */
  start(state: CarriedState, item: MailItem): Promise<Delivery>;
  deliver(taskId: string, item: MailItem): Promise<Delivery>;
  /** False when no loop runs for the task. */
  cancel(taskId: string, by: string): Promise<boolean>;
  /** Whether a loop runs for the task; if not, why it ended, as far as anybody knows. */
  fate(taskId: string): Promise<LoopFate>;
}

/** What admission needs of the configuration to start a task. */
export type NewTaskDefaults = Pick<
  NewTaskState,
  'agentId' | 'storeId' | 'conversation' | 'limits' | 'searchAttributes'
>;
