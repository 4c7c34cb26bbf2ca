import type { ErrorCode, JsonObject, JsonValue } from '../base/index.ts';
import type {
  MailItem,
  ParticipantKind,
  QuestionOrigin,
  SubState,
  TaskData,
  TaskState,
} from '../loop/index.ts';

/** One part of a message or artifact. */
export type PartRecord =
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly mediaType?: string;
      readonly metadata?: JsonObject;
    }
  | {
      readonly kind: 'data';
      readonly data: JsonValue;
      readonly mediaType?: string;
      readonly metadata?: JsonObject;
    };

/** A participant's message as it came in, after redaction. Its only home is the inbox. */
export interface InboundMessage {
  readonly parts: readonly PartRecord[];
  readonly metadata?: JsonObject;
  readonly extensions: readonly string[];
  readonly referenceTaskIds: readonly string[];
}

/** A row of the inbox: a message that arrived, whether or not the loop has consumed it yet (DU-2). */
export interface InboxRow {
  /** Digest of (sender, message id); also the id of the update that delivers it. */
  readonly key: string;
  readonly taskId: string;
  readonly sender: string;
  readonly senderKind: ParticipantKind;
  readonly messageId: string;
  /** SHA-256 of the raw body: the same id with another body is an error (AS-10). */
  readonly bodyHash: string;
  readonly message: InboundMessage;
  /** What the loop is told of it, kept so that it can be delivered again. */
  readonly mail: MailItem;
  readonly receivedAt: string;
  readonly consumed: boolean;
}

/** What a question to participants says (PC-4). Its id is `<task>:help:<seq>`. */
export interface QuestionRecord {
  /** Who may answer, besides the task's admins; for an approval, exactly who may decide. Never empty. */
  readonly participantIds: readonly string[];
  readonly text: string;
  readonly options: readonly string[];
  /** ISO 8601. */
  readonly expiresAt: string | null;
  /** The call that waits for a decision (PC-12). */
  readonly approval?: ApprovalRecord;
  /** The sub-task's question that this one stands for (ST-3). */
  readonly origin?: QuestionOrigin;
}

/** The exact call that somebody is asked to approve. */
export interface ApprovalRecord {
  readonly callId: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly argumentsHash: string;
}

/** What a log entry says. The log is what A2A answers, streams and both surfaces read. */
export type LogBody =
  /** A participant's message was accepted; the content is in its inbox row. */
  | { readonly kind: 'message'; readonly inbox: string }
  | {
      readonly kind: 'state';
      readonly state: TaskState;
      readonly subState: SubState | null;
      /** The status message; null when there is nothing to say. */
      readonly text: string | null;
      /** Questions open now, as ids; the status message carries a part for each. */
      readonly questions: readonly string[];
      /** Set when the status message is one that was published before (a single question). */
      readonly messageId?: string;
      readonly code?: ErrorCode;
      /** How far the task had got (SF-6). */
      readonly turn?: number;
      readonly tokens?: number;
      readonly cost?: number | null;
    }
  /** The task's data changed (TK-1). */
  | { readonly kind: 'task_data'; readonly data: TaskData }
  | { readonly kind: 'question'; readonly question: QuestionRecord }
  /** What a slash command answered (SF-5). */
  | { readonly kind: 'command'; readonly inbox: string; readonly name: string; readonly text: string }
  /** A turn of the model begins (SF-6). */
  | {
      readonly kind: 'turn';
      readonly turn: number;
      readonly tokens: number;
      readonly cost?: number | null;
      readonly questions: readonly string[];
    }
  /** Text of the agent beside its calls: a reply that does not end the exchange. */
  | { readonly kind: 'note'; readonly text: string }
  | {
      readonly kind: 'tool';
      readonly phase: 'started' | 'finished';
      readonly name: string;
      readonly turn: number;
      readonly isError: boolean;
    }
  /** The whole text of a reply, once it is known (AS-7). */
  | { readonly kind: 'response'; readonly text: string };

/** A durable event of a task. `seq` is given by the store and has no gaps. */
export interface LogEntry {
  readonly seq: number;
  /** Unique within the task. */
  readonly key: string;
  readonly exchange: number;
  /** ISO 8601; never before the entry before it. */
  readonly at: string;
  readonly body: LogBody;
}

/** The state of a task, folded from its log. */
export interface TaskRow {
  readonly id: string;
  readonly contextId: string;
  readonly reporter: string;
  readonly state: TaskState;
  readonly subState: SubState | null;
  /** Sequence of the entry that set the state. */
  readonly statusSeq: number;
  readonly data: TaskData;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Sequence of the newest entry. */
  readonly log: number;
  /** Position of the newest transcript row. */
  readonly transcript: number;
}

/**
 * One row of the conversation as the model reads it. Rows refer to content and do not hold it: `message` to the inbox,
 * `assistant` and `result` to saved effects.
 */
export type TranscriptItem =
  | { readonly type: 'message'; readonly inbox: string; readonly answers?: string }
  | { readonly type: 'assistant'; readonly effect: string }
  | { readonly type: 'result'; readonly effect: string; readonly callId: string }
  /** What an approved call came to after its turn was read. */
  | { readonly type: 'outcome'; readonly effect: string; readonly callId: string }
  /** A sub-task ended; its row says how. */
  | { readonly type: 'child'; readonly taskId: string }
  /** A question that nobody answered in time. */
  | { readonly type: 'expired'; readonly question: string };

export interface TranscriptRow {
  readonly n: number;
  readonly key: string;
  readonly item: TranscriptItem;
}
