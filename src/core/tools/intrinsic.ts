import type { JsonObject } from '../base/index.ts';
import type { TaskChange, TaskData } from '../loop/index.ts';
import type { ToolAnnotations } from './tool.ts';

/** A participant is asked for something: an answer, or a piece of work (PC-4, PC-6). What a route does not need is empty. */
export interface HelpRequest {
  readonly command: 'help';
  /** What the model proposes; `help.decided` has the last word (PC-7). */
  readonly route: 'ask' | 'create_task';
  readonly participantId: string;
  readonly question: string;
  readonly options: readonly string[];
  readonly name: string;
  readonly goal: string;
  readonly acceptanceCriteria: readonly string[];
  readonly expiresInSeconds?: number;
  /** Id of the plan's step that a created task works on. */
  readonly step?: string;
}

/** A part of the work becomes a task of its own (ST-1). */
export interface SubtaskRequest {
  readonly command: 'spawn';
  readonly name: string;
  readonly goal: string;
  readonly description: string;
  readonly acceptanceCriteria: readonly string[];
  /** Id of the plan's step that it works on. */
  readonly step?: string;
}

/** What the loop carries out for an intrinsic (LP-1). */
export type CommandRequest = HelpRequest | SubtaskRequest;

/** What an intrinsic may read when its call is gated. */
export interface IntrinsicContext {
  readonly agentId: string;
  readonly data: TaskData;
  /** Whose messages the exchange answers (LP-7). */
  readonly actors: readonly string[];
  /** A stored text by reference, from a character offset. @returns undefined for an unknown reference. */
  readStored(ref: string): Promise<string | undefined>;
}

/** What an intrinsic call comes to: a result that stands at once, with what it changes, or a command for the loop (LP-1). */
export type IntrinsicOutcome =
  | { readonly kind: 'result'; readonly text: string; readonly change?: TaskChange }
  | { readonly kind: 'command'; readonly request: CommandRequest };

/** A tool of the harness itself. Its arguments refuse unknown keys; it does no I/O of its own. */
export interface Intrinsic {
  /** Bare (`create_plan`), where other tools have a prefix (TL-8). */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** What approval rules go by (PC-12). */
  readonly annotations: ToolAnnotations;
  /** The command its calls come to; absent for one whose result stands at once. */
  readonly command?: CommandRequest['command'];
  /** The operation whose hooks run around it, besides `tool.invoked`. */
  readonly operation?: 'plan.created' | 'step.finished' | 'help.requested' | 'subtask.spawned';
  /** @throws HarnessError that the model reads as the result of its call. */
  apply(args: JsonObject, context: IntrinsicContext): IntrinsicOutcome | Promise<IntrinsicOutcome>;
}
