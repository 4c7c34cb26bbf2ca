import type { JsonObject } from '../base/index.ts';
import type { TaskData } from '../loop/index.ts';

/** One person is asked one thing (PC-4). */
export interface HelpRequest {
  readonly participantId: string;
  readonly question: string;
  readonly options: readonly string[];
  readonly expiresInSeconds?: number;
}

/** What an intrinsic may read when its call is gated. */
export interface IntrinsicContext {
  readonly data: TaskData;
  /** A stored text by reference, from a character offset. @returns undefined for an unknown reference. */
  readStored(ref: string): Promise<string | undefined>;
}

/**
 * What an intrinsic call comes to: a result that stands at once, with the task data it leaves, or a command that the
 * loop carries out (LP-1).
 */
export type IntrinsicOutcome =
  | { readonly kind: 'result'; readonly text: string; readonly data?: TaskData }
  | { readonly kind: 'command'; readonly command: 'ask_participant'; readonly request: HelpRequest };

/** A tool of the harness itself. Its arguments refuse unknown keys; it does no I/O of its own. */
export interface Intrinsic {
  /** Bare (`create_plan`), where other tools have a prefix (TL-8). */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** The operation whose hooks run around it, besides `tool.invoked`. */
  readonly operation?: 'plan.created' | 'step.finished' | 'help.requested';
  /** @throws HarnessError that the model reads as the result of its call. */
  apply(args: JsonObject, context: IntrinsicContext): IntrinsicOutcome | Promise<IntrinsicOutcome>;
}
