/**
 * Tools of MCP servers, over stdio and streamable HTTP, through the official SDK (TL-1, TL-7). Knows servers and their
 * tools; what a call is allowed to do is decided before it gets here.
 */
export {
  type ConnectMcpOptions,
  connectMcpServer,
  type McpConnection,
  type McpConnectionState,
} from './connection.ts';
export { loadMcpConfig, type McpConfig, type McpProblem } from './mcp-config.ts';
export type { McpServerSpec, McpServersScope, McpValue } from './server-spec.ts';
export type { McpLogger } from './session.ts';
export type { McpTool } from './tool.ts';
