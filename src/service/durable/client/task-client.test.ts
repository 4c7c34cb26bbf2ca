import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { createState, type MailItem } from '../../../core/loop/index.ts';
import type { RetryPolicy } from '../contract/index.ts';
import { connectClient } from './connect.ts';
import { type GrpcServer, startGrpcServer } from './fixtures/grpc-server.ts';
import { TaskClient } from './task-client.ts';

const retry: RetryPolicy = {
  initialIntervalMs: 1000,
  backoffCoefficient: 2,
  maximumIntervalMs: 60_000,
  maximumAttempts: 5,
  nonRetryable: [],
};

const first: MailItem = { key: 'k1', messageId: 'm1', sender: 'alice', role: 'reporter', kind: 'human' };

/** A client of a queue that nobody polls, at this address. */
async function clientOf(address: string, deadlineMs = 20_000): Promise<TaskClient> {
  const { connection, close } = await connectClient({ address });
  onTestFinished(close);
  const client = new Client({ connection, namespace: 'default' });
  const options = {
    heartbeatTimeoutMs: 30_000,
    modelTimeoutMs: 60_000,
    toolTimeoutMs: 60_000,
    historyEventBound: 2000,
    retries: { modelTurn: retry, runTool: retry, commit: retry },
  };
  return new TaskClient(client, `unpolled-${randomUUID()}`, options, { deadlineMs });
}

function newTask() {
  return createState({
    taskId: randomUUID(),
    contextId: 'context',
    agentId: 'agent',
    storeId: 'store',
    lifecycle: 'conversation',
    conversation: 'open',
    limits: { turnsPerExchange: 50, repeatedCalls: 5 },
    searchAttributes: false,
    worker: 'agent',
    parent: null,
    first,
    logCursor: 1,
  });
}

async function secondsOf(work: Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work;
  return (performance.now() - begun) / 1000;
}

describe('EM-7, DU-11: a message that nobody answers for', () => {
  it.each([
    ['is gone', (server: GrpcServer) => server.stop()],
    ['hangs', async (server: GrpcServer) => server.mute()],
  ])('fails within seconds with temporal_unavailable when Temporal %s', async (_, breaks) => {
    const server = await startGrpcServer();
    const client = await clientOf(server.address);
    await breaks(server);
    const calls = [
      client.start(newTask(), first),
      client.deliver('task', first),
      client.cancel('task', 'alice'),
      client.fate('task'),
    ];

    const seconds = await secondsOf(
      Promise.all(calls.map((call) => expect(call).rejects.toMatchObject({ code: 'temporal_unavailable' }))),
    );

    expect(seconds).toBeLessThan(4); // 2.5 by design, and 20 without it.
  });

  it.each([
    ['Unable to perform workflow execution update due to unexpected workflow task failure.', 'closing'],
    ['workflow execution already completed', 'ended'],
  ])('DU-7: "%s" means that it is %s', async (message, kind) => {
    const server = await startGrpcServer();
    const client = await clientOf(server.address);
    const failedPrecondition = 9;
    server.fail(failedPrecondition, message);
    expect(await client.deliver('task', first)).toEqual({ kind });
  });

  it('waits for its deadline, and is worker_unavailable, when Temporal is there and no worker', async () => {
    const client = await clientOf(inject('temporal'), 4_000);

    const seconds = await secondsOf(
      expect(client.start(newTask(), first)).rejects.toMatchObject({ code: 'worker_unavailable' }),
    );

    expect(seconds).toBeGreaterThan(3.5);
  });
});
