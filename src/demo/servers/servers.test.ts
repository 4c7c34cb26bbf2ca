import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it, onTestFinished } from 'vitest';

async function start(file: string, env: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const path = fileURLToPath(new URL(file, import.meta.url));
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [path], env }));
  onTestFinished(() => client.close());
  return client;
}

describe('the orders server', () => {
  it('marks its tools as reading only', async () => {
    const client = await start('orders.ts');
    const { tools } = await client.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ['find_order', true],
      ['stock', true],
    ]);
  });

  it('knows order 1042 and what is in stock', async () => {
    const client = await start('orders.ts');
    const found = await client.callTool({ name: 'find_order', arguments: { order: 1042 } });
    expect(found.structuredContent).toMatchObject({
      customer: { name: 'Mara Lind' },
      items: [{ sku: 'LAMP-7', price: 89 }],
      deliveredOn: '2026-03-02',
    });
    const stock = await client.callTool({ name: 'stock', arguments: { sku: 'lamp-7' } });
    expect(stock.structuredContent).toEqual({ sku: 'LAMP-7', name: 'Desk lamp, brass', available: 3 });
  });

  it('says so when there is no such order or article', async () => {
    const client = await start('orders.ts');
    const order = await client.callTool({ name: 'find_order', arguments: { order: 7 } });
    const article = await client.callTool({ name: 'stock', arguments: { sku: 'X' } });
    expect([order.isError, article.isError]).toEqual([true, true]);
  });
});

describe('the refunds server', () => {
  it('appends every entry to the ledger, with a number that runs on over restarts', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const ledger = join(folder, 'ledger.jsonl');
    const refund = { order: 1042, amount: 89, reason: 'arrived broken' };
    const replacement = { order: 1042, sku: 'LAMP-7', reason: 'arrived broken' };

    const first = await start('refunds.ts', { LEDGER_FILE: ledger });
    const entry = await first.callTool({ name: 'record_refund', arguments: refund });
    expect(entry.structuredContent).toMatchObject({ number: 1, kind: 'refund', currency: 'EUR', ...refund });
    await first.close();
    const second = await start('refunds.ts', { LEDGER_FILE: ledger });
    await second.callTool({ name: 'record_replacement', arguments: replacement });

    const lines = readFileSync(ledger, 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { number: 1, kind: 'refund', ...refund },
      { number: 2, kind: 'replacement', ...replacement },
    ]);
  });

  it('marks its tools as destructive and not idempotent', async () => {
    const client = await start('refunds.ts', { LEDGER_FILE: join(tmpdir(), 'never-written.jsonl') });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['record_refund', 'record_replacement']);
    for (const { annotations } of tools)
      expect(annotations).toMatchObject({ destructiveHint: true, idempotentHint: false });
  });
});
