import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type EmbeddedTemporal, findTemporalCli, prepareServer, startEmbeddedTemporal } from './index.ts';

vi.setConfig({ testTimeout: 30_000 });

const HOUR_MS = 3600_000;
let folder: string;
let server: EmbeddedTemporal;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'embedded-prepare-'));
  server = await start();
}, 180_000);

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<EmbeddedTemporal> {
  const cli = await findTemporalCli({}, { onProgress: () => {} });
  return startEmbeddedTemporal({ cli, databasePath: join(folder, 'temporal.db') });
}

async function withConnection<T>(use: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: server.address });
  try {
    return await use(connection);
  } finally {
    await connection.close();
  }
}

function retentionSeconds(): Promise<number> {
  return withConnection(async ({ workflowService }) => {
    const { config } = await workflowService.describeNamespace({ namespace: 'default' });
    return Number(config?.workflowExecutionRetentionTtl?.seconds);
  });
}

it('sets the retention, on a new file and on one that exists', async () => {
  await prepareServer(server.address, { retentionMs: 72 * HOUR_MS });
  expect(await retentionSeconds()).toBe(72 * 3600);

  await server.stop();
  server = await start();
  expect(await retentionSeconds()).toBe(72 * 3600);
  await prepareServer(server.address, { retentionMs: 2 * HOUR_MS });

  expect(await retentionSeconds()).toBe(2 * 3600);
});

it('registers the search attributes of a task, so that a workflow can be started and found by them', async () => {
  await prepareServer(server.address, { retentionMs: HOUR_MS });
  await prepareServer(server.address, { retentionMs: HOUR_MS });

  await withConnection(async (connection) => {
    const client = new Client({ connection });
    const names = ['A2AContextId', 'A2ATaskState', 'TinyHarnessAgent'];
    await client.workflow.start('NoWorker', {
      taskQueue: 'nobody',
      workflowId: 'found-by-its-attributes',
      typedSearchAttributes: new TypedSearchAttributes(
        names.map((name) => ({ key: defineSearchAttributeKey(name, 'KEYWORD'), value: `${name} of one` })),
      ),
    });
    const query = names.map((name) => `${name} = "${name} of one"`).join(' AND ');
    await vi.waitFor(async () => expect((await client.workflow.count(query)).count).toBe(1), 5_000);
  });
});

it('says so when the server has an attribute with another type', async () => {
  await withConnection(({ operatorService }) =>
    operatorService.addSearchAttributes({ namespace: 'default', searchAttributes: { Numbered: 3 } }),
  );

  await expect(
    prepareServer(server.address, { retentionMs: HOUR_MS, searchAttributes: ['Numbered'] }),
  ).rejects.toMatchObject({ code: 'temporal.start_failed', message: expect.stringContaining('Numbered') });
});

it('refuses a retention that Temporal does not take', async () => {
  await expect(prepareServer(server.address, { retentionMs: 1_000 })).rejects.toMatchObject({
    code: 'config.invalid',
  });
});
