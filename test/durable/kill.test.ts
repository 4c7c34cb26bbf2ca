import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { expect, inject, onTestFinished, test } from 'vitest';
import { SqliteStore } from '../../src/adapters/store/sqlite/index.ts';
import { type ModelReply, type ModelServer, startModelServer } from '../../src/testing/index.ts';
import { messageText, sdkClient, stateOf } from '../support/client.ts';
import { configFile } from '../support/config.ts';
import { testFolder } from '../support/harness.ts';
import { processesNaming } from '../support/processes.ts';
import { serve } from '../support/serve.ts';

async function modelServer(replies: (request: number) => ModelReply): Promise<ModelServer> {
  let requests = 0;
  const server = await startModelServer({ replies: () => replies(requests++) });
  onTestFinished(() => server.close());
  return server;
}

/** What the log says of a task, read from the store itself. */
async function logOf(folder: string, taskId: string) {
  const store = SqliteStore.open(join(folder, 'store.db'));
  try {
    return await store.log(taskId);
  } finally {
    await store.close();
  }
}

test('DU-3: a worker killed in the middle of a model call; another one finishes, and the call completes once', {
  timeout: 60_000,
}, async () => {
  const folder = testFolder();
  let arrived: () => void = () => {};
  const calling = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const model = await modelServer((request) => {
    if (request > 0) return { text: 'Finished by the second worker.' };
    arrived();
    return { text: 'Never heard.', hold: new Promise(() => {}) };
  });
  const config = configFile(folder, model);

  const first = await serve(config);
  const alice = await sdkClient(first.url, 'alice');
  const sent = await alice.send({ text: 'go', returnImmediately: true });
  await calling;
  first.kill('SIGKILL');
  expect(await first.ended).toBe('SIGKILL');

  const second = await serve(config);
  const again = await sdkClient(second.url, 'alice');
  for await (const event of again.sdk.resubscribeTask({ id: sent.id, tenant: '' })) {
    if (event.payload?.$case === 'statusUpdate' && stateOf(event.payload.value) === 'INPUT_REQUIRED') break;
  }
  const task = await again.task(sent.id);
  expect(messageText(task.status?.message)).toBe('Finished by the second worker.');
  expect(model.requests).toHaveLength(2);
  expect(model.completed).toBe(1);
  const log = await logOf(folder, sent.id);
  expect(log.filter((entry) => entry.body.kind === 'response')).toHaveLength(1);

  const connection = await Connection.connect({ address: inject('temporal') });
  onTestFinished(() => connection.close());
  const history = await new Client({ connection }).workflow.getHandle(sent.id).fetchHistory();
  const events = history.events ?? [];
  // The model turn and the commit.
  expect(events.filter((event) => event.activityTaskCompletedEventAttributes)).toHaveLength(2);
  // The workflow was not kept for the lost worker for long: the SDK's own limit is 10 s.
  const secondsAt = (name: 'activityTaskTimedOutEventAttributes' | 'workflowTaskTimedOutEventAttributes') =>
    Number(events.find((event) => event[name])?.eventTime?.seconds);
  const kept =
    secondsAt('workflowTaskTimedOutEventAttributes') - secondsAt('activityTaskTimedOutEventAttributes');
  expect(kept).toBeLessThan(5);
});

test('PC-5: server, worker and Temporal killed together while a question is open; restarted, it is answered', {
  timeout: 90_000,
}, async () => {
  const folder = testFolder();
  const model = await modelServer((request) =>
    request === 0
      ? {
          calls: [
            { name: 'ask_participant', arguments: { participant_id: 'alice', question: 'Red or blue?' } },
          ],
        }
      : { text: 'Blue, then.' },
  );
  const config = configFile(folder, model, { temporal: 'embedded' });

  const first = await serve(config);
  const alice = await sdkClient(first.url, 'alice');
  const asked = await alice.send({ text: 'paint it' });
  expect(messageText(asked.status?.message)).toBe('Red or blue?');
  const victims = [first.pid, ...processesNaming(folder)];
  for (const pid of new Set(victims)) process.kill(pid, 'SIGKILL');
  expect(await first.ended).toBe('SIGKILL');
  expect(new Set(victims).size).toBeGreaterThanOrEqual(2);

  const second = await serve(config);
  const again = await sdkClient(second.url, 'alice');
  expect(messageText((await again.task(asked.id)).status?.message)).toBe('Red or blue?');
  const answered = await again.send({ text: 'blue', taskId: asked.id });
  expect(stateOf(answered)).toBe('INPUT_REQUIRED');
  expect(messageText(answered.status?.message)).toBe('Blue, then.');
  expect(model.completed).toBe(2);

  second.kill('SIGTERM');
  expect(await second.ended).toBe(0);
  expect(processesNaming(folder)).toEqual([]);
});

test('crash row "model turn saved, activity result lost": the model is not called again', {
  timeout: 60_000,
}, async () => {
  const folder = testFolder();
  const model = await modelServer(() => ({ text: 'Said once.' }));
  const config = configFile(folder, model);
  const first = await serve(config, { TINY_HARNESS_FAILPOINT: 'model_turn.saved' });
  const sent = await (await sdkClient(first.url, 'alice')).send({ text: 'go', returnImmediately: true });
  expect(await first.ended).toBe('SIGKILL');

  const second = await serve(config);
  const again = await sdkClient(second.url, 'alice');
  for await (const event of again.sdk.resubscribeTask({ id: sent.id, tenant: '' })) {
    if (event.payload?.$case === 'statusUpdate' && stateOf(event.payload.value) === 'INPUT_REQUIRED') break;
  }
  expect(messageText((await again.task(sent.id)).status?.message)).toBe('Said once.');
  expect(model.requests).toHaveLength(1);
});

test('crash row "inbox row written, message not delivered": it is delivered at the next start, once', {
  timeout: 60_000,
}, async () => {
  const folder = testFolder();
  const model = await modelServer(() => ({ text: 'Heard.' }));
  const config = configFile(folder, model);
  const first = await serve(config, { TINY_HARNESS_FAILPOINT: 'admission.stored' });
  const message = { text: 'go', messageId: 'm1', metadata: { conversation: 'single' } };
  await expect((await sdkClient(first.url, 'alice')).send(message)).rejects.toThrow();
  expect(await first.ended).toBe('SIGKILL');

  const second = await serve(config);
  const task = await (await sdkClient(second.url, 'alice')).send(message);
  expect(stateOf(task)).toBe('COMPLETED');
  expect(messageText(task.status?.message)).toBe('Heard.');
  expect(model.requests).toHaveLength(1);
});
