/** Tools: the port, in-code definitions, schema validation, the registry. MCP tools come from `adapters/tools/mcp`. */
export {
  isSafeToRepeat,
  type Tool,
  type ToolAnnotations,
  type ToolContext,
  type ToolResult,
} from './tool.ts';
