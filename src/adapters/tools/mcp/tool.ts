import { createHash } from 'node:crypto';
import {
  canonicalJson,
  HarnessError,
  type JsonObject,
  type JsonValue,
  messageOf,
} from '../../../core/base/index.ts';
import { compileSchema, type Tool, type ToolAnnotations } from '../../../core/tools/index.ts';
import type { ListedTool, McpLogger } from './session.ts';

/** A tool of an MCP server. */
export interface McpTool extends Tool {
  /** Of name, description and schemas: what the model, and whoever allowed the tool, went by (TL-1, TL-5). */
  readonly hash: string;
}

/** SHA-256 of what defines a tool, in hex. */
export function hashOf({ name, description, inputSchema, outputSchema }: ListedTool): string {
  const defining = {
    name,
    description: description ?? null,
    inputSchema,
    outputSchema: outputSchema ?? null,
  };
  return createHash('sha256')
    .update(canonicalJson(defining as unknown as JsonValue))
    .digest('hex');
}

/**
 * The tools of a listing under the harness's names, sorted. One that cannot be used (its schema does not compile, its
 * name came twice) is left out with a warning; the others load.
 */
export function toTools(
  listed: readonly ListedTool[],
  prefix: string,
  logger: McpLogger,
  run: (tool: McpTool, remoteName: string) => Tool['run'],
): McpTool[] {
  const tools = new Map<string, McpTool>();
  for (const entry of listed) {
    const name = `${prefix}.${entry.name}`;
    try {
      if (tools.has(name)) throw new HarnessError('plugin.invalid', 'the server lists it twice');
      const inputSchema = entry.inputSchema as JsonObject;
      compileSchema(inputSchema);
      const { description = '', annotations = {} } = entry;
      const tool: McpTool = {
        name,
        description,
        inputSchema,
        annotations: annotations as ToolAnnotations,
        hash: hashOf(entry),
        run: (args, context) => run(tool, entry.name)(args, context),
      };
      tools.set(name, tool);
    } catch (error) {
      logger.warn('MCP tool left out', { tool: name, error: messageOf(error) });
    }
  }
  return [...tools.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
