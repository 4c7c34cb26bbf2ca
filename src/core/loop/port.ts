import type { AbortSignalLike, ErrorCode } from '../base/index.ts';
import type {
  CallRef,
  ChildReport,
  CutCall,
  OpenQuestion,
  QuestionOrigin,
  TurnRef,
  WaitingCall,
} from './state.ts';
import type { Lifecycle, SubState, TaskState } from './task.ts';

/** The task an effect belongs to, and the store it lives in (DU-13). */
export interface TaskRef {
  readonly taskId: string;
  readonly storeId: string;
}

/** What a turn is to append before the model is called. */
export type TurnMail =
  | {
      readonly type: 'message';
      readonly key: string;
      /** The question it answers. */
      readonly answers?: string;
      /** What it was for is done: it is recorded, and the model does not read it. */
      readonly silent?: true;
    }
  | { readonly type: 'child'; readonly taskId: string }
  | { readonly type: 'expired'; readonly questionId: string }
  | { readonly type: 'outcome'; readonly call: CallRef };

/** What one model turn needs to know; everything else it reads from the store (invariant 5). */
export interface TurnInput extends TaskRef, TurnRef {
  readonly mail: readonly TurnMail[];
  /** A turn whose call results are to be appended first. */
  readonly unread: TurnRef | null;
  /** Turns that were cut: their keys are taken first, so that nobody saves them late. */
  readonly interrupted: readonly TurnRef[];
  readonly lifecycle: Lifecycle;
  readonly conversation: 'open' | 'single';
  readonly openQuestions: readonly string[];
  /** Calls of the unread turn that wait for approval. */
  readonly waitingCalls: readonly string[];
  readonly openChildren: number;
  /** Whose messages the exchange answers (LP-7). */
  readonly actors: readonly string[];
  /** Tokens of the task so far, for whoever watches. */
  readonly tokensTotal: number;
  /** What they cost; null when nothing of it had a price. */
  readonly costTotal: number | null;
}

/**
 * What the loop does with one call. `done`: its result stands already (an intrinsic, a veto, a bad call). `tool`: to
 * be run by `runTool`. `help` and `spawn`: commands for the loop.
 */
export interface GatedCall {
  readonly ordinal: number;
  readonly callId: string;
  readonly kind: 'done' | WaitingCall['kind'];
  /** Safe to run again after a failure (TL-2). */
  readonly repeatable: boolean;
  /** It runs once somebody has approved it: the digest of its arguments (PC-12). */
  readonly approval?: string;
}

/** What a turn came to, as the loop sees it. */
export interface TurnOutput {
  readonly calls: readonly GatedCall[];
  /** How to end the exchange; only for a turn without calls. */
  readonly decision?: 'complete' | 'wait' | 'fail';
  readonly tokens: number;
  /** Absent when the model has no price. */
  readonly cost?: number;
  readonly log: number;
}

export interface CallInput extends TaskRef, CallRef {
  /**
   * `settle`: it failed, or a worker was lost while it ran, and it is not to be run again. Reads the saved result, or
   * records what is known by compare-and-set.
   */
  readonly mode: 'run' | 'settle';
  /** For `settle`: why. */
  readonly failure?: { readonly code: ErrorCode; readonly message: string };
  /** For a call that waited for approval: who decided, by which message; a deadline decides without one. */
  readonly decided?: { readonly questionId: string; readonly message: string | null };
  /** Set once its turn was read: the result is then kept apart, to be told of on its own. */
  readonly late?: true;
}

export interface CallOutput {
  readonly isError: boolean;
  /** Short digest of name, arguments and result (LP-3). */
  readonly fingerprint: string;
}

/** What a request for help, or for approval, came to. */
export interface HelpOutput {
  /** The question that is open now; absent when there is none (the model reads why). */
  readonly question?: OpenQuestion;
  /** The sub-task that was created instead. */
  readonly child?: string;
  readonly tokens: number;
  readonly cost?: number;
  readonly log: number;
}

/** A task that was created for a part of the work; none when that was refused. */
export interface SpawnOutput {
  readonly child?: string;
  readonly log: number;
}

export interface ForwardInput extends TaskRef {
  /** Key of the message that answers a sub-task's question. */
  readonly key: string;
  readonly to: QuestionOrigin;
}

export interface CommandRun extends TaskRef {
  /** It failed, however often it was tried: why, to be its answer. */
  readonly failure?: { readonly code: ErrorCode; readonly message: string };
  /** Key of the message that is the command. */
  readonly key: string;
  readonly exchange: number;
  readonly openQuestions: readonly string[];
}

/** Where the text of a commit's status message comes from; content itself never passes through the loop. */
export type CommitText =
  | { readonly from: 'turn'; readonly exchange: number; readonly turn: number }
  | { readonly from: 'questions' }
  /** A participant's own words: what a task that was given to them came to. */
  | { readonly from: 'message'; readonly key: string }
  /** What a participant was asked to do. */
  | { readonly from: 'goal' }
  /** Answers went on to the sub-tasks that had asked. */
  | { readonly from: 'forwarded'; readonly taskIds: readonly string[] }
  | { readonly from: 'nothing' }
  | { readonly from: 'failure'; readonly code: ErrorCode; readonly message: string }
  | { readonly from: 'completed_by'; readonly participantId: string }
  | { readonly from: 'canceled'; readonly by: string; readonly calls: readonly CutCall[] };

/** A state change, decided by the loop and recorded by an activity (invariant 3). */
export interface CommitInput extends TaskRef {
  /** Unique within the task; a repeated commit finds what is stored. */
  readonly key: string;
  readonly exchange: number;
  readonly turn: number;
  readonly tokensTotal: number;
  readonly costTotal: number | null;
  readonly state: TaskState;
  readonly subState: SubState | null;
  readonly text: CommitText;
  /** Questions still open, for the status message. */
  readonly questions: readonly string[];
  /** Inbox rows this commit answers for. */
  readonly consumed: readonly string[];
}

export interface CommitOutput {
  /** The state that stands: the first terminal one wins. */
  readonly state: TaskState;
  readonly log: number;
}

/** The outcome of an effect the loop may cut: a value, the cut, or a failure after all attempts. */
export type Outcome<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'cut' }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string };

/**
 * Everything the loop can make happen. In a workflow the methods are activity proxies; in tests they run in process.
 * Methods that return an `Outcome` do not throw. `commit` is tried until it succeeds.
 */
export interface LoopPort {
  /**
   * Resolves once `condition` holds, or at `deadline` (milliseconds since the epoch); the condition is re-evaluated
   * whenever the state may have changed.
   */
  until(condition: () => boolean, deadline?: number): Promise<void>;
  modelTurn(input: TurnInput, signal: AbortSignalLike): Promise<Outcome<TurnOutput>>;
  runTool(
    input: CallInput,
    options: { repeatable: boolean },
    signal: AbortSignalLike,
  ): Promise<Outcome<CallOutput>>;
  /** Asks a participant, or creates a task for them (PC-7). */
  requestHelp(input: CallInput, signal: AbortSignalLike): Promise<Outcome<HelpOutput>>;
  /** Asks for the approval of a call (PC-12). */
  requestApproval(input: CallInput, signal: AbortSignalLike): Promise<Outcome<HelpOutput>>;
  /** Creates and starts a sub-task (ST-1). */
  spawnSubtask(input: CallInput, signal: AbortSignalLike): Promise<Outcome<SpawnOutput>>;
  /** Hands an answer on to the sub-task that asked (ST-3). Tried until it is there, or the sub-task has ended. */
  forward(input: ForwardInput): Promise<void>;
  /** Runs a slash command (SF-5). */
  runCommand(input: CommandRun): Promise<Outcome<SpawnOutput>>;
  commit(input: CommitInput): Promise<CommitOutput>;
  /** Tells the parent's loop (DU-8); one that is gone is no matter. */
  report(parent: string, report: ChildReport): Promise<void>;
  /** Asks a sub-task to stop (LP-5); one that is gone is no matter. */
  cancelChild(taskId: string, by: string): Promise<void>;
  /** Milliseconds since the epoch. */
  now(): number;
  /** True when the history has grown enough that the loop should stop between exchanges and be carried over (DU-7). */
  shouldCarryOver(): boolean;
}
