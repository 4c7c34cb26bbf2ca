/** An MCP server over stdio: the orders and the stock of a small shop. Reads only. */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const ORDERS = [
  {
    order: 1041,
    customer: { name: 'Jonas Weber', email: 'jonas@example.com' },
    items: [{ sku: 'MUG-2', name: 'Stoneware mug', quantity: 2, price: 14.5 }],
    total: 29,
    currency: 'EUR',
    deliveredOn: '2026-02-27',
  },
  {
    order: 1042,
    customer: { name: 'Mara Lind', email: 'mara@example.com' },
    items: [{ sku: 'LAMP-7', name: 'Desk lamp, brass', quantity: 1, price: 89 }],
    total: 89,
    currency: 'EUR',
    deliveredOn: '2026-03-02',
  },
];

const STOCK: Readonly<Record<string, { readonly name: string; readonly available: number }>> = {
  'LAMP-7': { name: 'Desk lamp, brass', available: 3 },
  'MUG-2': { name: 'Stoneware mug', available: 0 },
};

function createServer(): McpServer {
  const server = new McpServer({ name: 'orders', version: '1.0.0' });
  server.registerTool(
    'find_order',
    {
      title: 'Find an order',
      description: 'Finds an order by its number: customer, items, price, and the day it was delivered.',
      inputSchema: z.object({ order: z.number().int().describe('The number of the order, such as 1042') }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ order }) => {
      const found = ORDERS.find((one) => one.order === order);
      return found === undefined ? failure(`There is no order ${order}.`) : success(found);
    },
  );
  server.registerTool(
    'stock',
    {
      title: 'Look up the stock',
      description: 'Says how many pieces of an item can be sent today.',
      inputSchema: z.object({ sku: z.string().describe('The article number, such as LAMP-7') }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ sku }) => {
      const found = STOCK[sku.toUpperCase()];
      return found === undefined
        ? failure(`There is no article ${sku}.`)
        : success({ sku: sku.toUpperCase(), ...found });
    },
  );
  return server;
}

function success(value: Record<string, unknown>) {
  return { content: [{ type: 'text' as const, text: JSON.stringify(value) }], structuredContent: value };
}

function failure(text: string) {
  return { content: [{ type: 'text' as const, text }], isError: true };
}

serveStdio(createServer);
