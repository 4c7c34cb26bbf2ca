// An MCP server over stdio: credit notes. Each call is a new line of the ledger, so nothing here is safe to repeat.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const { LEDGER_FILE: file = '' } = process.env;

serveStdio(() => {
  const server = new McpServer({ name: 'credits', version: '1.0.0' });
  server.registerTool(
    'give_credit',
    {
      description: 'Gives the customer of an order a credit. It cannot be taken back.',
      inputSchema: z.object({
        order: z.number().int(),
        amount: z.number().positive().describe('In euros'),
        reason: z.string(),
      }),
      annotations: { readOnlyHint: false, idempotentHint: false, openWorldHint: false },
    },
    (credit) => {
      const written = existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
      const entry = { number: written + 1, ...credit };
      appendFileSync(file, `${JSON.stringify(entry)}\n`);
      return { content: [{ type: 'text', text: JSON.stringify(entry) }] };
    },
  );
  return server;
});
