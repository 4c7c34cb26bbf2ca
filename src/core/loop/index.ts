/**
 * The loop: what a task, a plan and a carried state are, and the pure code that runs a task over a port. Imports no
 * effect: no store, model, tool, clock or network. Runs in a workflow and, in tests, in process.
 */
export { assertOpen, type Receipt, receive } from './mailbox.ts';
export { completeStep, createPlan, type PlannedStep } from './plan.ts';
export type {
  CallInput,
  CallOutput,
  CommitInput,
  CommitOutput,
  CommitText,
  CutCall,
  GatedCall,
  HelpOutput,
  LoopPort,
  Outcome,
  TaskRef,
  TurnInput,
  TurnOutput,
} from './port.ts';
export { type CutReason, type CutSource, type RunEnd, runTask } from './run.ts';
export {
  type CarriedState,
  type ChildLink,
  createState,
  type LoadedSkill,
  type LoopLimits,
  type LoopPhase,
  type MailItem,
  type NewTaskState,
  type OpenApproval,
  type OpenQuestion,
  type RememberedRule,
  type SeenMessage,
  type TurnRef,
} from './state.ts';
export {
  type AcceptanceCriterion,
  isInterrupted,
  isTerminal,
  type Lifecycle,
  nameOf,
  type Participant,
  type ParticipantKind,
  type ParticipantRole,
  type Plan,
  type PlanStep,
  type StepState,
  type SubState,
  type TaskData,
  type TaskLink,
  type TaskState,
} from './task.ts';
