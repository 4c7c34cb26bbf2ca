import type { AbortSignalLike, JsonObject, JsonValue } from '../base/index.ts';

/** What a tool says of itself (MCP's annotations). Hints from a server are not proof of anything. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** What a running tool is told. */
export interface ToolContext {
  readonly agentId: string;
  readonly taskId: string;
  /** Stable over every attempt at this call: a tool may use it as its own idempotency key. */
  readonly callKey: string;
  /** Aborts when the task is canceled or interrupted. */
  readonly signal: AbortSignalLike;
}

/** What a tool returns. `text` is what the model reads (untrusted); `data` is kept in the store beside it. */
export interface ToolResult {
  readonly text: string;
  readonly isError?: boolean;
  readonly data?: JsonValue;
}

/**
 * A tool the harness can run. `run` gets arguments that passed `inputSchema`; what it throws becomes an error result
 * that the model reads.
 */
export interface Tool {
  /** In code `<plugin>/<tool>`, from MCP `<plugin>/<server>.<tool>` (TL-8). */
  readonly name: string;
  readonly description: string;
  /** JSON Schema (draft 2020-12) of an object. */
  readonly inputSchema: JsonObject;
  readonly annotations: ToolAnnotations;
  run(args: JsonObject, context: ToolContext): Promise<ToolResult>;
}

/** True when a call of this tool may be run again after a failure (TL-2). */
export function isSafeToRepeat(annotations: ToolAnnotations): boolean {
  return annotations.idempotentHint === true || annotations.readOnlyHint === true;
}
