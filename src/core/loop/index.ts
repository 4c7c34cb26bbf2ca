/**
 * The loop: what a task, a plan and a carried state are, and the pure code that runs a task over a port. Imports no
 * effect: no store, model, tool, clock or network. Runs in a workflow and, in tests, in process.
 */
export { applyChange, applyChanges, type TaskChange } from './changes.ts';
export type { CutReason, CutSource } from './exchange.ts';
export { assertOpen, type Receipt, receive, receiveReport } from './mailbox.ts';
export { completeStep, createPlan, type PlannedStep } from './plan.ts';
export type {
  CallInput,
  CallOutput,
  CommandRun,
  CommitInput,
  CommitOutput,
  CommitText,
  ForwardInput,
  GatedCall,
  HelpOutput,
  LoopPort,
  Outcome,
  SpawnOutput,
  TaskRef,
  TurnInput,
  TurnMail,
  TurnOutput,
} from './port.ts';
export { type RunEnd, runTask } from './run.ts';
export {
  type CallRef,
  type CarriedState,
  type ChildLink,
  type ChildReport,
  type CutCall,
  createState,
  type LoadedSkill,
  type LoopLimits,
  type LoopPhase,
  type MailItem,
  type NewTaskState,
  type OpenQuestion,
  type Pending,
  type QuestionOrigin,
  type SeenMessage,
  type TurnRef,
  type Verdict,
  type WaitingCall,
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
