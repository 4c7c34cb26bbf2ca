import type { ApprovalSettings } from '../../../core/approvals/index.ts';
import type { ReasoningEffort } from '../../../core/models/index.ts';
import type { Secret } from '../../../core/security/index.ts';

/** One agent's configuration, resolved: defaults filled in, paths absolute, durations in milliseconds. */
export interface Settings {
  readonly agent: { readonly id: string; readonly conversation: 'open' | 'single' };
  readonly card: CardSettings;
  readonly temporal: TemporalSettings;
  /** Absent when no model is configured; `noModel` then says what to do. */
  readonly model?: ModelSettings;
  /** Why there is no `model`, as the line to show when one is needed. */
  readonly noModel?: string;
  readonly server: ServerSettings;
  /** The file with `mcpServers`. */
  readonly mcpConfig?: string;
  readonly plugins: readonly string[];
  readonly agents: readonly RemoteAgentSettings[];
  readonly store: { readonly sqlitePath: string; readonly postgresUrl?: Secret };
  readonly context: {
    readonly turnBudgetTokens: number;
    readonly compactionFraction: number;
    /** Continue-as-new past this many history events. */
    readonly historyEventBound: number;
  };
  readonly limits: LimitSettings;
  readonly prices: PriceSettings;
  readonly approvals: ApprovalSettings;
  readonly retries: RetrySettings;
  readonly retention: RetentionSettings;
  readonly o11y: { readonly logLevel: 'debug' | 'info' | 'warn' | 'error'; readonly serviceName: string };
  readonly heartbeat: { readonly intervalMs: number };
  /** Every secret that was found, used or not: what the redactor masks (see `secretsOf`). */
  readonly secrets: readonly Secret[];
  /** Lines to log at level WARN when the harness starts. */
  readonly warnings: readonly string[];
  /** Lines to log at level INFO: keys that are accepted and have no effect. */
  readonly notes: readonly string[];
}

export interface CardSettings {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly skills: readonly {
    readonly id: string;
    readonly name: string;
    readonly description: string;
    readonly tags: readonly string[];
    readonly examples: readonly string[];
  }[];
}

/** Files of TLS to Temporal; all absent: TLS with the system's roots and no client certificate. */
export interface TlsSettings {
  readonly serverName?: string;
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
}

export interface TemporalSettings {
  readonly mode: 'remote' | 'embedded';
  /** `host:port`; always there in remote mode. */
  readonly address?: string;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Absent: no TLS. */
  readonly tls?: TlsSettings;
  readonly apiKey?: Secret;
  readonly searchAttributes: boolean;
  /** Heartbeat timeout of model and tool activities. */
  readonly heartbeatTimeoutMs: number;
  /** Workflows a worker keeps in memory; others are replayed from their history when something happens to them. */
  readonly maxCachedWorkflows: number;
  readonly embedded: EmbeddedSettings;
}

export interface EmbeddedSettings {
  readonly persist: boolean;
  readonly databasePath: string;
  readonly binaryPath?: string;
  readonly downloadUrl?: string;
  readonly downloadSha256?: string;
  readonly downloadDir: string;
  readonly port?: number;
  readonly synchronous: 'full' | 'normal';
}

/** What the model sections share. */
export interface EndpointSettings {
  readonly model: string;
  /** What `/model` may choose; contains `model`. */
  readonly models: readonly string[];
  readonly reasoningEffort?: ReasoningEffort;
  readonly timeoutMs: number;
  readonly maxOutputTokens: number;
  /** Overrides the table of known models, for every selectable model. */
  readonly contextWindowTokens?: number;
}

export interface OpenAiSettings extends EndpointSettings {
  readonly apiKey?: Secret;
  /** As written. Absent: OpenAI's own. */
  readonly baseUrl?: string;
  readonly api: 'responses' | 'chat_completions';
  /** Longest silence within an answer. */
  readonly idleTimeoutMs?: number;
}

export interface AnthropicSettings extends EndpointSettings {
  readonly apiKey?: Secret;
}

export interface ModelSettings {
  readonly provider: 'openai' | 'anthropic';
  readonly openai?: OpenAiSettings;
  readonly anthropic?: AnthropicSettings;
}

export interface ServerSettings {
  readonly bindHost: string;
  readonly bindPort: number;
  /** As written, or made from the bind. */
  readonly baseUrl: string;
  /** True when `baseUrl` was made from the bind: with port 0 it has to be made again once listening. */
  readonly baseUrlFromBind: boolean;
  readonly defaultParticipant?: string;
  readonly delegators: readonly string[];
  readonly idempotency: boolean;
  readonly maxRequestBytes: number;
  readonly rateLimitPerMinute: number;
  readonly maxRunningTasksPerCaller: number;
  readonly corsOrigins: readonly string[];
  readonly allowedHosts: readonly string[];
  readonly trustedProxies: readonly string[];
  /** Encrypts stored push tokens (`TINY_HARNESS_PUSH_KEY`). */
  readonly pushKey?: Secret;
}

export interface RemoteAgentSettings {
  readonly id: string;
  readonly url: string;
  readonly version?: string;
  readonly updates: 'auto' | 'follow' | 'off';
  readonly followIntervalMs: number;
}

export interface LimitSettings {
  readonly turnsPerExchange: number;
  readonly totalTokens?: number;
  readonly workingTimeMs?: number;
  /** In the currency of the prices. */
  readonly cost?: number;
  /** The same call with the same result this often asks the reporter. */
  readonly repeatedCalls: number;
}

/** Of a million tokens, by the name of the model; all in one currency, whichever that is. */
export type PriceSettings = Readonly<
  Record<string, { readonly input: number; readonly cached: number; readonly output: number }>
>;

export interface RetryPolicySettings {
  readonly initialIntervalMs: number;
  readonly backoffCoefficient: number;
  readonly maximumIntervalMs: number;
  /** 0: without bound. */
  readonly maximumAttempts: number;
  readonly nonRetryableErrorTypes: readonly string[];
}

/** The activities a policy may be set for. */
export type RetriedActivity = 'modelTurn' | 'toolRun' | 'commit';

export interface RetrySettings {
  readonly default: RetryPolicySettings;
  /** Replaces the whole default policy. */
  readonly perActivity: Readonly<Partial<Record<RetriedActivity, RetryPolicySettings>>>;
}

export interface RetentionSettings {
  readonly tasksMs: number;
  readonly plansMs: number;
  readonly stateMs: number;
  readonly channelMessagesMs: number;
  readonly inboxAuditMs: number;
  readonly compactionsMs: number;
  readonly pushConfigsMs: number;
}
