import type { StepState, TaskState } from '../../core/loop/index.ts';

/** A question to a participant, as its channel part says it. */
export interface Question {
  /** What `in_reply_to` of an answer names. */
  readonly id: string;
  /** Who may answer it. */
  readonly participantIds: readonly string[];
  readonly text: string;
  readonly options: readonly string[];
}

/** A step of the task's plan. */
export interface Step {
  readonly id: string;
  readonly name: string;
  readonly dependsOn: readonly string[];
  readonly state: StepState;
  readonly output: string | null;
}

/** How following a task ended. */
export interface Ending {
  readonly taskId: string;
  readonly state: TaskState;
  readonly subState: string | null;
  /** The questions that are open. */
  readonly questions: readonly Question[];
  readonly plan: readonly Step[];
  /** True when the message was not accepted; the task goes on as it was. */
  readonly refused: boolean;
}

/**
 * What happened to a task, in the order it did. Texts are the agent's, of tools and of other people: show them inert.
 *
 * - `text` is a piece of a text while it is generated, `start` marks the first piece of a new one; `text_end` closes it
 *   with the whole text as it is kept. A text that was begun and not closed is begun again after a failed attempt.
 * - `plan` has the whole plan, and the ids of the steps that are new or changed.
 * - `notice` is a status text that is no reply: why a task failed, who canceled it.
 * - `other` names something this client cannot show.
 * - `reconnecting`: the connection was lost; following goes on.
 * - `end` comes once, last.
 */
export type Happening =
  | { readonly kind: 'task'; readonly taskId: string; readonly contextId: string; readonly state: TaskState }
  | { readonly kind: 'state'; readonly state: TaskState; readonly subState: string | null }
  | { readonly kind: 'text'; readonly text: string; readonly start: boolean }
  | { readonly kind: 'text_end'; readonly text: string }
  | { readonly kind: 'plan'; readonly steps: readonly Step[]; readonly changed: readonly string[] }
  | { readonly kind: 'tool'; readonly phase: 'started' | 'finished' | 'failed'; readonly name: string }
  | { readonly kind: 'question'; readonly question: Question }
  | { readonly kind: 'notice'; readonly text: string }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'other'; readonly name: string }
  | { readonly kind: 'reconnecting'; readonly reason: string }
  | ({ readonly kind: 'end' } & Ending);
