import type { ApprovalSettings } from '../../../core/approvals/index.ts';
import type { AbortSignalLike, Clock, HarnessError, PassFailpoint } from '../../../core/base/index.ts';
import type { AdmissionPort, ChannelSender } from '../../../core/channels/index.ts';
import type { CommandRegistry } from '../../../core/commands/index.ts';
import type { HookChain, OperationScope } from '../../../core/hooks/index.ts';
import type { LlmPort, ModelPrice, ReasoningEffort } from '../../../core/models/index.ts';
import type { Journal, TaskRow } from '../../../core/persistence/index.ts';
import type { AgentIdentity } from '../../../core/prompts/index.ts';
import type { Intrinsic, ToolRegistry } from '../../../core/tools/index.ts';

/** What the activities of one agent work with. Made once per harness. */
export interface ActivityDeps {
  readonly agentId: string;
  readonly agent: AgentIdentity;
  readonly journal: Journal;
  readonly hooks: HookChain;
  readonly llm: LlmPort;
  /** Used when the task has none of its own. */
  readonly effort?: ReasoningEffort;
  readonly tools: ToolRegistry;
  readonly intrinsics: ReadonlyMap<string, Intrinsic>;
  readonly commands: CommandRegistry;
  /** Which calls a person decides about, and who (PC-12). */
  readonly approvals: ApprovalSettings;
  /** The way in: sub-tasks and what is handed on to them take it like everybody's messages. */
  readonly admission: AdmissionPort;
  /** Takes what is stored to participants who are reached by another medium than A2A (PC-2). */
  readonly channels: ChannelSender;
  /** What models cost, by name (LP-3). */
  readonly prices: ReadonlyMap<string, ModelPrice>;
  /** Models a task may have. */
  readonly selectableModels: readonly string[];
  /** Markdown of the system prompt, with its placeholders. */
  readonly systemPrompt: string;
  /** Tool results longer than this many characters are cut and stored whole (TL-4). */
  readonly toolResultLimit: number;
  readonly clock: Clock;
  /** Masks secrets in what goes into a history. */
  readonly redactText: (text: string) => string;
  readonly failpoint: PassFailpoint;
  /** Hears what the agent does, for people who watch the log. */
  readonly report: (event: ActivityEvent) => void;
}

/** What the log says of an activity. */
export type ActivityEvent =
  | {
      readonly kind: 'model';
      readonly taskId: string;
      readonly exchange: number;
      readonly turn: number;
      readonly attempt: number;
      readonly ms: number;
      readonly tokens: number;
      readonly calls: readonly string[];
    }
  | {
      readonly kind: 'tool';
      readonly taskId: string;
      readonly name: string;
      readonly attempt: number;
      readonly ms: number;
      readonly isError: boolean;
    }
  | { readonly kind: 'state'; readonly taskId: string; readonly state: string; readonly exchange: number }
  | {
      readonly kind: 'failure';
      readonly taskId: string;
      readonly activity: string;
      readonly attempt: number;
      readonly error: HarnessError;
    };

/** One run of an activity. */
export interface Run {
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborts when the task is cut, or the worker shuts down. */
  readonly signal: AbortSignalLike;
}

/** The scope hooks are told of. */
export function scopeOf(
  deps: ActivityDeps,
  task: TaskRow,
  exchange: number,
  run: Run,
  entity?: OperationScope['entity'],
): OperationScope {
  return {
    agentId: deps.agentId,
    taskId: task.id,
    contextId: task.contextId,
    participants: task.data.participants,
    correlationId: `${task.id}:${exchange}`,
    attempt: run.attempt,
    ...(entity ? { entity } : {}),
  };
}
