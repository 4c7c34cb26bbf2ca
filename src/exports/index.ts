export type { JsonObject, JsonValue, Logger } from '../core/base/index.ts';
export { ConfigError, ERROR_CODES, type ErrorCode, HarnessError, HookAbort } from '../core/base/index.ts';
export type { ChannelMedium, OutboundMessage, ReceivedMessage } from '../core/channels/index.ts';
export {
  type Command,
  type CommandContext,
  type CommandOptions,
  type CommandOutcome,
  defineCommand,
  usageError,
  type WaitingQuestion,
} from '../core/commands/index.ts';
export {
  HookChain,
  type HookContext,
  type HookExecutor,
  type HookPoint,
  type Operations,
} from '../core/hooks/index.ts';
export type { Participant, TaskChange, TaskData } from '../core/loop/index.ts';
export type { LlmEvent, LlmPort, LlmRequest, LlmResponse } from '../core/models/index.ts';
export { Secret } from '../core/security/index.ts';
export {
  defineTool,
  type Tool,
  type ToolAnnotations,
  type ToolContext,
  type ToolResult,
} from '../core/tools/index.ts';
export {
  Harness,
  HarnessAlreadyStartedError,
  HarnessConflictError,
  HarnessNotStartedError,
  type HarnessOptions,
  HarnessStoppedError,
  type Listening,
  loadSettings,
  parseSettings,
  type Settings,
  type SettingsInput,
} from '../service/harness/index.ts';
