/**
 * Hooks: ordered chains of executors around every operation. Hooks run in admission and in activities, never in the
 * loop or in workflow code (HK-6).
 */
export {
  HookChain,
  type HookContext,
  type HookExecutor,
  type OperationScope,
} from './chain.ts';
export type {
  ApprovalDecision,
  ApprovalInput,
  AttemptFailure,
  AttemptRetry,
  CommandInput,
  CommandOutput,
  CompletionDecision,
  HelpDecision,
  HookPhase,
  HookPoint,
  OperationName,
  OperationOf,
  Operations,
  ToolCallInput,
  ToolCallOutput,
} from './operations.ts';
