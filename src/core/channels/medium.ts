import type { AbortSignalLike } from '../base/index.ts';
import type { Participant } from '../loop/index.ts';
import type { QuestionRecord, TaskRow } from '../persistence/index.ts';

/** Something the agent says on the channel of a task (PC-2). It is stored before it is handed to a medium. */
export interface OutboundMessage {
  /** The same message again has the same id. */
  readonly id: string;
  readonly text: string;
  /** Ids of the participants it is for. */
  readonly to: readonly string[];
  /** The question it puts; then `id` is the question's. */
  readonly question?: QuestionRecord;
}

/** What a participant said over a medium. */
export interface ReceivedMessage {
  /** Unique for its sender: the same one again has no second effect. */
  readonly id: string;
  readonly taskId: string;
  readonly sender: string;
  readonly text: string;
  /** Id of the question it answers. */
  readonly inReplyTo?: string;
}

/**
 * A way to reach participants besides A2A, such as mail or a chat. A2A itself needs none: everything the agent says is in
 * the task's log, which A2A reads.
 */
export interface ChannelMedium {
  /** What logs call it. */
  readonly name: string;
  /** True for a participant it can reach. */
  reaches(participant: Participant): boolean;
  /**
   * Hands a message on. May be called again with the same id after a crash; may throw, then it is tried again. The signal
   * aborts after two seconds: the task does not wait longer for a medium.
   */
  send(message: OutboundMessage, task: TaskRow, signal: AbortSignalLike): Promise<void>;
  /** For a medium that is pulled: what came in since, at most once in a while. Absent for one that calls by itself. */
  receive?(): Promise<readonly ReceivedMessage[]>;
  /** For a medium that is pulled: a message was taken in, or refused for good, and need not come again. */
  acknowledge?(message: ReceivedMessage): Promise<void>;
}

/** Takes what is stored to the participants that a medium reaches. Does not throw: the log has the message. */
export interface ChannelSender {
  deliver(task: TaskRow, message: OutboundMessage): Promise<void>;
}
