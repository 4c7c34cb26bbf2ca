/** Tools: the port, in-code definitions, schema validation, the registry. MCP tools come from `adapters/tools/mcp`. */
export { defineTool, type ToolReturn } from './define-tool.ts';
export type { HelpRequest, Intrinsic, IntrinsicContext, IntrinsicOutcome } from './intrinsic.ts';
export { cutText } from './limits.ts';
export { ToolRegistry } from './registry.ts';
export { compileSchema, type ValidateArguments, type ValidationResult } from './schema.ts';
export type { InferInput, InferOutput, StandardSchema } from './standard-schema.ts';
export {
  isSafeToRepeat,
  type Tool,
  type ToolAnnotations,
  type ToolContext,
  type ToolResult,
} from './tool.ts';
