import type { JsonObject } from '../base/index.ts';
import type { LlmRequest, LlmResponse, ToolCall } from '../models/index.ts';
import type { ToolAnnotations } from '../tools/index.ts';

/** What a hook sees of one call to a tool. */
export interface ToolCallInput {
  readonly callId: string;
  readonly name: string;
  readonly arguments: JsonObject;
}

/** What a call came to. */
export interface ToolCallOutput {
  readonly text: string;
  readonly isError: boolean;
}

/** A failed attempt, as the retry policy will see it (DU-4). */
export interface AttemptFailure {
  readonly activity: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

/** What comes after a failed attempt. */
export interface AttemptRetry {
  readonly activity: string;
  readonly attempt: number;
  /** Milliseconds to wait; null: as the policy says. */
  readonly delayMs: number | null;
}

/** How a turn that asked for no calls ends its exchange (LP-2). */
export interface CompletionDecision {
  readonly decision: 'complete' | 'wait' | 'fail';
  readonly reason?: string;
}

/** How a request for a person's help is routed (PC-7). What the route does not need is empty. */
export interface HelpDecision {
  readonly route: 'ask' | 'create_task';
  readonly participantId: string;
  readonly question: string;
  readonly options: readonly string[];
  readonly name: string;
  readonly goal: string;
  readonly acceptanceCriteria: readonly string[];
  /** Why, in a sentence; kept in the record. */
  readonly reason: string;
}

/** What a policy is asked about a call (PC-12): the arguments are final. */
export interface ApprovalInput extends ToolCallInput {
  readonly annotations: ToolAnnotations;
}

/** What may become of a call. `reason` is what the model, or whoever is asked, reads. */
export interface ApprovalDecision {
  readonly decision: 'allow' | 'ask' | 'deny';
  readonly reason?: string;
}

/** A slash command and who gave it (SF-5). */
export interface CommandInput {
  readonly name: string;
  /** What stands behind the name, trimmed. */
  readonly argument: string;
  readonly participantId: string;
}

/** What a command answers, as text for its sender. */
export interface CommandOutput {
  readonly text: string;
}

/**
 * The operations with hooks around them (HK-2), each with the type of its input and of its output. A hook point is
 * `<operation>.<phase>`.
 */
export interface Operations {
  'request.received': {
    input: {
      readonly sender: string;
      readonly messageId: string;
      readonly text: string;
      readonly taskId?: string;
    };
    output: { readonly accepted: true };
  };
  'task.created': {
    input: { readonly name: string; readonly goal: string; readonly reporter: string };
    output: { readonly created: true };
  };
  'task.state_changed': {
    input: { readonly state: string; readonly exchange: number };
    output: { readonly recorded: true };
  };
  'llm.invoked': { input: LlmRequest; output: LlmResponse };
  'tool_calls.extracted': {
    input: { readonly calls: readonly ToolCall[] };
    output: { readonly calls: readonly ToolCall[] };
  };
  'tool.invoked': { input: ToolCallInput; output: ToolCallOutput };
  'plan.created': { input: ToolCallInput; output: ToolCallOutput };
  'step.finished': { input: ToolCallInput; output: ToolCallOutput };
  'subtask.spawned': { input: ToolCallInput; output: ToolCallOutput };
  'help.requested': { input: ToolCallInput; output: ToolCallOutput };
  'help.decided': { input: HelpDecision; output: HelpDecision };
  'tool.approval': { input: ApprovalInput; output: ApprovalDecision };
  'command.invoked': { input: CommandInput; output: CommandOutput };
  /** An attempt at an activity failed. A changed input changes how the failure is treated; `HookAbort` ends it for good. */
  'activity.failed': { input: AttemptFailure; output: AttemptFailure };
  /** A failed attempt is to be followed by another; an executor may change the delay. */
  'activity.retried': { input: AttemptRetry; output: AttemptRetry };
  'task.complete': {
    input: {
      readonly text: string;
      readonly lifecycle: 'conversation' | 'delegated';
      readonly conversation: 'open' | 'single';
      readonly openQuestions: number;
      readonly openChildren: number;
    };
    output: CompletionDecision;
  };
}

export type OperationName = keyof Operations;
export type HookPhase = 'pre' | 'in' | 'post';

/** The phases that are run. A state change is decided by the loop, and what failed has failed: neither can be replaced. */
export type PhaseOf<O extends OperationName> = O extends 'task.state_changed'
  ? 'post'
  : O extends 'activity.failed' | 'activity.retried'
    ? 'pre'
    : HookPhase;

/** `<operation>.<phase>`, checked by the compiler. */
export type HookPoint<O extends OperationName = OperationName> = O extends OperationName
  ? `${O}.${PhaseOf<O>}`
  : never;

/** The operation in the name of a hook point. */
export type OperationOf<P extends HookPoint> = P extends `${infer O extends OperationName}.pre`
  ? O
  : P extends `${infer O extends OperationName}.in`
    ? O
    : P extends `${infer O extends OperationName}.post`
      ? O
      : never;
