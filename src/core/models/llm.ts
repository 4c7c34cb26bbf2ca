import type { AbortSignalLike, JsonObject } from '../base/index.ts';

/** A call the model asked for. `arguments` is the raw text the model wrote; nothing has parsed it yet. */
export interface ToolCall {
  /** Unique within its response; given by the provider, or by the adapter when the provider gives none. */
  readonly id: string;
  /** The harness's own tool name (`create_plan`, `local/files.read`), never the provider's spelling. */
  readonly name: string;
  readonly arguments: string;
}

/** One item of what the model reads, oldest first. */
export type LlmInputItem =
  | { readonly type: 'user'; readonly text: string }
  | { readonly type: 'assistant'; readonly text: string; readonly calls: readonly ToolCall[] }
  | {
      readonly type: 'tool_result';
      readonly callId: string;
      readonly text: string;
      readonly isError: boolean;
    };

/** A tool as the model sees it. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema (draft 2020-12) of an object. */
  readonly inputSchema: JsonObject;
}

export type ReasoningEffort = 'low' | 'medium' | 'high';

/** One request to a model (MD-1). `instructions` and `tools` are the static prefix. */
export interface LlmRequest {
  /** A model of the endpoint; absent: the configured one. */
  readonly model?: string;
  readonly instructions: string;
  readonly input: readonly LlmInputItem[];
  readonly tools: readonly ToolDefinition[];
  /** Asks for an answer that is JSON of this schema. */
  readonly output?: { readonly name: string; readonly schema: JsonObject };
  /** Requests with one key share a prompt cache; the task id. */
  readonly cacheKey?: string;
  readonly effort?: ReasoningEffort;
}

/** Tokens, as the provider reported them; zeros for what it did not, which `invokeLlm` estimates. */
export interface LlmUsage {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly reasoning: number;
}

export type LlmFinish = 'stop' | 'tool_calls' | 'length' | 'refusal';

/** A whole answer of a model (MD-1). */
export interface LlmResponse {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly usage: LlmUsage;
  readonly model: string;
  readonly finish: LlmFinish;
}

/** What a streaming call yields: text as it comes, then exactly one `done`, last. */
export type LlmEvent =
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'done'; readonly response: LlmResponse };

/**
 * A model endpoint. `stream` throws `RetryableProviderError` or `ProviderError` (MD-4) and stops promptly when the
 * signal aborts; no tool call is ever emitted from an answer that did not finish.
 */
export interface LlmPort {
  /** What logs call it: `<api> <model> at <scheme://host[:port]>`. */
  readonly description: string;
  /** The model used when a request names none. */
  readonly model: string;
  /** Tokens the model can read, when known. */
  readonly contextWindow?: number;
  stream(request: LlmRequest, signal: AbortSignalLike): AsyncIterable<LlmEvent>;
}
