import type { AbortSignalLike, ErrorCode } from '../base/index.ts';
import type { ReasoningEffort } from '../models/index.ts';
import type { OpenQuestion, TurnRef } from './state.ts';
import type { Lifecycle, SubState, TaskState } from './task.ts';

/** The task an effect belongs to, and the store it lives in (DU-13). */
export interface TaskRef {
  readonly taskId: string;
  readonly storeId: string;
}

/** What one model turn needs to know; everything else it reads from the store (invariant 5). */
export interface TurnInput extends TaskRef, TurnRef {
  /** Messages to append before the model is called, with the question each answers. */
  readonly mail: readonly { readonly key: string; readonly answers?: string }[];
  /** A turn whose call results are to be appended first. */
  readonly unread: TurnRef | null;
  /** Turns that were cut: their keys are taken first, so that nobody saves them late. */
  readonly interrupted: readonly TurnRef[];
  readonly lifecycle: Lifecycle;
  readonly conversation: 'open' | 'single';
  readonly openQuestions: readonly string[];
  readonly openChildren: number;
  readonly model: string | null;
  readonly effort: ReasoningEffort | null;
}

/**
 * What the loop does with one call. `done`: its result stands already (an intrinsic, a veto, a bad call). `tool`: to
 * be run by `runTool`. `ask_participant`: a command for the loop.
 */
export interface GatedCall {
  readonly ordinal: number;
  readonly kind: 'done' | 'tool' | 'ask_participant';
  /** Safe to run again after a failure (TL-2). */
  readonly repeatable: boolean;
}

/** What a turn came to, as the loop sees it. */
export interface TurnOutput {
  readonly calls: readonly GatedCall[];
  /** How to end the exchange; only for a turn without calls. */
  readonly decision?: 'complete' | 'wait' | 'fail';
  readonly tokens: number;
  readonly log: number;
}

export interface CallInput extends TaskRef, TurnRef {
  readonly ordinal: number;
  /**
   * `settle`: it failed, or a worker was lost while it ran, and it is not to be run again. Reads the saved result, or
   * records what is known by compare-and-set.
   */
  readonly mode: 'run' | 'settle';
  /** For `settle`: why. */
  readonly failure?: { readonly code: ErrorCode; readonly message: string };
}

export interface CallOutput {
  readonly isError: boolean;
  /** Short digest of name, arguments and result (LP-3). */
  readonly fingerprint: string;
}

export interface HelpOutput {
  /** The question that is open now; absent when the request was refused (the model reads why). */
  readonly question?: OpenQuestion;
  readonly log: number;
}

/** Where the text of a commit's status message comes from; content itself never passes through the loop. */
export type CommitText =
  | { readonly from: 'turn'; readonly exchange: number; readonly turn: number }
  | { readonly from: 'questions' }
  | { readonly from: 'failure'; readonly code: ErrorCode; readonly message: string }
  | { readonly from: 'completed_by'; readonly participantId: string }
  | { readonly from: 'canceled'; readonly by: string; readonly calls: readonly CutCall[] };

/** A call that was cut, and what is known of it (LP-5). */
export interface CutCall extends TurnRef {
  readonly ordinal: number;
  readonly outcome: 'stopped' | 'finished' | 'unknown';
}

/** A state change, decided by the loop and recorded by an activity (invariant 3). */
export interface CommitInput extends TaskRef {
  /** Unique within the task; a repeated commit finds what is stored. */
  readonly key: string;
  readonly exchange: number;
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
  /** Resolves once `condition` holds; it is re-evaluated whenever the state may have changed. */
  until(condition: () => boolean): Promise<void>;
  modelTurn(input: TurnInput, signal: AbortSignalLike): Promise<Outcome<TurnOutput>>;
  runTool(
    input: CallInput,
    options: { repeatable: boolean },
    signal: AbortSignalLike,
  ): Promise<Outcome<CallOutput>>;
  askParticipant(input: CallInput, signal: AbortSignalLike): Promise<Outcome<HelpOutput>>;
  commit(input: CommitInput): Promise<CommitOutput>;
  /** Milliseconds since the epoch. */
  now(): number;
  /** True when the history has grown enough that the loop should stop between exchanges and be carried over (DU-7). */
  shouldCarryOver(): boolean;
}
