import type { ReasoningEffort } from '../models/index.ts';

/** A2A's task states, without their wire prefix. */
export type TaskState =
  | 'SUBMITTED'
  | 'WORKING'
  | 'INPUT_REQUIRED'
  | 'AUTH_REQUIRED'
  | 'COMPLETED'
  | 'FAILED'
  | 'CANCELED'
  | 'REJECTED';

/** Why a task is `INPUT_REQUIRED`. */
export type SubState = 'awaiting-next-message' | 'awaiting-answer';

const TERMINAL: ReadonlySet<TaskState> = new Set<TaskState>(['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED']);

/** True for a state that accepts nothing more (TK-3). */
export function isTerminal(state: TaskState): boolean {
  return TERMINAL.has(state);
}

/** True for a state in which nothing runs until somebody writes. */
export function isInterrupted(state: TaskState): boolean {
  return state === 'INPUT_REQUIRED' || state === 'AUTH_REQUIRED';
}

export type ParticipantKind = 'human' | 'agent';
export type ParticipantRole = 'assignee' | 'reporter' | 'watcher' | 'admin';

/** A human or an agent with a role on a task (PC-1). */
export interface Participant {
  readonly id: string;
  readonly kind: ParticipantKind;
  readonly role: ParticipantRole;
  readonly displayName: string;
}

export interface AcceptanceCriterion {
  readonly text: string;
  readonly met: boolean;
}

export type StepState = 'pending' | 'active' | 'done' | 'failed';

/** One step of a plan (PN-1). `id` is the slug of its name. */
export interface PlanStep {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Ids of the steps this one waits for. */
  readonly dependsOn: readonly string[];
  readonly state: StepState;
  readonly output: string | null;
  /** Ids of tasks that work on this step. */
  readonly linkedTasks: readonly string[];
}

export interface Plan {
  readonly steps: readonly PlanStep[];
}

/** A link to another task. `agent` is null for a task of this harness. */
export interface TaskLink {
  readonly taskId: string;
  readonly agent: { readonly kind: 'agent'; readonly id: string; readonly version: string | null } | null;
  readonly state: TaskState | null;
  readonly subState: SubState | null;
}

export type Lifecycle = 'conversation' | 'delegated';

/** What the task extension publishes of a task (TK-1). The state is A2A's own and stands elsewhere. */
export interface TaskData {
  readonly name: string;
  readonly goal: string;
  readonly type: string | null;
  readonly description: string;
  readonly acceptanceCriteria: readonly AcceptanceCriterion[];
  readonly participants: readonly Participant[];
  readonly parentTasks: readonly TaskLink[];
  readonly subTasks: readonly TaskLink[];
  readonly plan: Plan | null;
  readonly lifecycle: Lifecycle;
  readonly model: string | null;
  readonly reasoningEffort: ReasoningEffort | null;
}

/** How long a task's name may be when it is taken from the goal (TK-2). */
const NAME_LENGTH = 60;

/** The name a task gets from the text of its goal: its first line, at most 60 characters (TK-2). */
export function nameOf(goal: string): string {
  const line = goal.trim().split(/\r?\n/, 1)[0] ?? '';
  const characters = Array.from(line);
  return characters.length <= NAME_LENGTH ? line : `${characters.slice(0, NAME_LENGTH - 1).join('')}…`;
}
