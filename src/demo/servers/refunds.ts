/**
 * An MCP server over stdio: the ledger of what a shop gives back. Every call appends one JSON line to the file that
 * `LEDGER_FILE` names, and a second call is a second entry: nothing here is safe to repeat.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const ledgerFile = process.env.LEDGER_FILE;
if (ledgerFile === undefined || ledgerFile === '') {
  process.stderr.write('LEDGER_FILE must name the file the entries are written to\n');
  process.exit(1);
}

const order = z.number().int().describe('The number of the order, such as 1042');
const reason = z.string().min(1).describe('Why, in one sentence');
const annotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: false,
};

function createServer(file: string): McpServer {
  const server = new McpServer({ name: 'refunds', version: '1.0.0' });
  server.registerTool(
    'record_refund',
    {
      title: 'Refund an order',
      description: 'Pays money back to the customer of an order. It cannot be taken back.',
      inputSchema: z.object({ order, amount: z.number().positive().describe('In euros'), reason }),
      annotations,
    },
    (refund) => record(file, { kind: 'refund', ...refund, currency: 'EUR' }),
  );
  server.registerTool(
    'record_replacement',
    {
      title: 'Send a replacement',
      description: 'Sends an item of an order once more, free of charge. It cannot be taken back.',
      inputSchema: z.object({
        order,
        sku: z.string().min(1).describe('The article number, such as LAMP-7'),
        reason,
      }),
      annotations,
    },
    (replacement) => record(file, { kind: 'replacement', ...replacement }),
  );
  return server;
}

function record(file: string, what: Readonly<Record<string, unknown>>) {
  const written = existsSync(file) ? readFileSync(file, 'utf8').trimEnd() : '';
  const number = written === '' ? 1 : written.split('\n').length + 1;
  const entry = { number, ...what, at: new Date().toISOString() };
  appendFileSync(file, `${JSON.stringify(entry)}\n`);
  return { content: [{ type: 'text' as const, text: JSON.stringify(entry) }], structuredContent: entry };
}

serveStdio(() => createServer(ledgerFile));
