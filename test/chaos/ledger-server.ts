// An MCP server with a tool that must not run twice: every run is a line in a ledger of its own.
import { appendFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const file = process.env.LEDGER_FILE ?? '';
const server = new McpServer({ name: 'ledger', version: '1.0.0' });

server.registerTool(
  'record',
  {
    description: 'Records an order once.',
    inputSchema: z.object({ order: z.string() }),
    annotations: { idempotentHint: false },
  },
  async ({ order }) => {
    appendFileSync(file, `${order}\n`);
    // Long enough that kills fall into it.
    await new Promise((resolve) => setTimeout(resolve, 30));
    return { content: [{ type: 'text', text: `recorded ${order}` }] };
  },
);

server.registerTool(
  'look',
  {
    description: 'Looks an order up.',
    inputSchema: z.object({ order: z.string() }),
    annotations: { readOnlyHint: true },
  },
  async ({ order }) => ({ content: [{ type: 'text', text: `order ${order} is here` }] }),
);

await server.connect(new StdioServerTransport());
