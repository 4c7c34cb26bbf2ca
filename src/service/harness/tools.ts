import { connectMcpServer, loadMcpConfig, type McpConfig } from '../../adapters/tools/mcp/index.ts';
import { type Logger, messageOf } from '../../core/base/index.ts';
import { type Tool, ToolRegistry } from '../../core/tools/index.ts';
import type { Settings } from './settings/index.ts';

/**
 * Reads the file with the MCP servers; before anything is started, so that its problems come first.
 *
 * @throws ConfigError with every problem of the file.
 */
export async function readMcpConfig(settings: Settings): Promise<McpConfig | undefined> {
  return settings.mcpConfig === undefined
    ? undefined
    : loadMcpConfig(settings.mcpConfig, { env: process.env });
}

/**
 * The tools of an agent: those given in code, and those of the MCP servers of its configuration. A server that does not
 * connect is left out and named; the rest works (PL-3). Connections are closed by `undo`.
 *
 * @throws HarnessError `plugin.invalid` for two tools of one name.
 */
export async function connectTools(
  config: McpConfig | undefined,
  inCode: readonly Tool[],
  undo: AsyncDisposableStack,
  logger: Logger,
  signal?: AbortSignal,
): Promise<ToolRegistry> {
  const tools = new ToolRegistry();
  for (const tool of inCode) tools.register(tool);
  if (config === undefined) return tools;
  await Promise.all(
    Object.entries(config.servers).map(async ([server, spec]) => {
      try {
        const connection = await connectMcpServer({
          plugin: 'local',
          server,
          spec,
          root: config.root,
          env: process.env,
          logger: logger.child({ mcp: server }),
          ...(signal ? { signal } : {}),
        });
        undo.defer(() => connection.close());
        for (const tool of connection.tools) tools.register(tool);
        logger.info('MCP server connected', {
          mcp: server,
          tools: connection.tools.map((tool) => tool.name),
        });
      } catch (error) {
        logger.error('an MCP server is left out', { mcp: server, reason: messageOf(error) });
      }
    }),
  );
  return tools;
}
