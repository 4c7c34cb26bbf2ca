/** Tools: the port, in-code definitions, schema validation, the registry. MCP tools come from `adapters/tools/mcp`. */
export { defineTool, type ToolReturn } from './define-tool.ts';
export type {
  CommandRequest,
  HelpRequest,
  Intrinsic,
  IntrinsicContext,
  IntrinsicOutcome,
  SubtaskRequest,
} from './intrinsic.ts';
export { cutText } from './limits.ts';
export { ToolRegistry } from './registry.ts';
export {
  assertStrictSchema,
  compileSchema,
  type ValidateArguments,
  type ValidationResult,
} from './schema.ts';
export type { InferInput, InferOutput, StandardSchema } from './standard-schema.ts';
export {
  isSafeToRepeat,
  type Tool,
  type ToolAnnotations,
  type ToolContext,
  type ToolResult,
} from './tool.ts';
