import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type ModelReply, type ModelServer, startModelServer } from '../../src/testing/index.ts';
import { collect, messageText, outline, sdkClient, stateOf } from '../support/client.ts';
import { configFile } from '../support/config.ts';
import { testFolder } from '../support/harness.ts';
import { start } from '../support/serve.ts';

async function modelServer(replies: () => ModelReply): Promise<ModelServer> {
  const server = await startModelServer({ replies });
  onTestFinished(() => server.close());
  return server;
}

test('two servers and two workers on one Temporal and one store: everybody sees one durable order', {
  timeout: 60_000,
}, async () => {
  const folder = testFolder();
  const model = await modelServer(() => ({ text: 'Answered elsewhere.' }));
  const config = configFile(folder, model);
  const workers = [await start(['worker', '--config', config]), await start(['worker', '--config', config])];
  const servers = [await start(['serve', '--config', config]), await start(['serve', '--config', config])];
  expect(servers.map((server) => server.output()).join()).toContain('without a worker');
  const [one, two] = await Promise.all(servers.map((server) => sdkClient(server.url, 'alice')));

  const first = await one?.send({ text: 'one' });
  expect(messageText(first?.status?.message)).toBe('Answered elsewhere.');

  // A follower on the other server sees what the sender sees, in the same order.
  const following = (async () => {
    const seen: string[] = [];
    for await (const event of two?.sdk.resubscribeTask({ id: first?.id ?? '', tenant: '' }) ?? []) {
      seen.push(...outline([event]));
      if (seen.filter((each) => each === 'status:INPUT_REQUIRED').length === 1) return seen;
    }
    return seen;
  })();
  const sent = outline(
    await collect(one?.stream({ text: 'two', taskId: first?.id ?? '' }) ?? (async function* () {})()),
  );
  expect(sent).toEqual([
    'task:INPUT_REQUIRED',
    'status:WORKING',
    'artifact:response:2',
    'status:INPUT_REQUIRED',
  ]);
  expect(await following).toEqual(sent);

  // The same message on both servers at once is one task.
  const message = { text: 'same', messageId: 'same', metadata: { conversation: 'single' } };
  const both = await Promise.all([one?.send(message), two?.send(message)]);
  expect(new Set(both.map((task) => task?.id)).size).toBe(1);

  // One worker less, and it goes on.
  workers[0]?.kill('SIGKILL');
  const again = await two?.send({ text: 'three', taskId: first?.id ?? '' });
  expect(messageText(again?.status?.message)).toBe('Answered elsewhere.');
  expect(model.requests).toHaveLength(4);
});

test('PF-3: durable events reach a subscriber of another process within 60 ms', {
  timeout: 60_000,
}, async () => {
  const folder = testFolder();
  const model = await modelServer(() => ({ text: 'Quick.' }));
  const config = configFile(folder, model);
  await start(['worker', '--config', config]);
  const alice = await sdkClient((await start(['serve', '--config', config])).url, 'alice');
  const lags: number[] = [];
  for (let send = 0; send < 10; send += 1) {
    for await (const { payload } of alice.stream({ text: 'go', metadata: { conversation: 'single' } })) {
      const timestamp = payload?.$case === 'statusUpdate' ? payload.value.status?.timestamp : undefined;
      if (timestamp) lags.push(Date.now() - Date.parse(timestamp));
    }
  }
  const median = lags.sort((a, b) => a - b)[lags.length >> 1] ?? Number.NaN;
  expect(median).toBeLessThan(60);
});

test('DU-13: a worker on another store fails the task before it touches anything, and the server says why', {
  timeout: 60_000,
}, async () => {
  const folder = testFolder();
  const model = await modelServer(() => ({ text: 'never' }));
  await start(['worker', '--config', configFile(folder, model, { store: 'other.db' })]);
  const server = await start(['serve', '--config', configFile(folder, model)]);
  const alice = await sdkClient(server.url, 'alice');
  const task = await alice.send({ text: 'go', returnImmediately: true });
  let failure: unknown;
  await expect
    .poll(async () => {
      failure = await alice
        .send({ text: 'still there?', taskId: task.id, returnImmediately: true })
        .catch((error: unknown) => error);
      return failure instanceof Error;
    })
    .toBe(true);
  const failed = await alice.task(task.id);
  expect(stateOf(failed)).toBe('FAILED');
  expect(messageText(failed.status?.message)).toMatch(/lives in store .* this worker has store/);
  expect(model.requests).toHaveLength(0);
});

test('CL-4: a worker is refused with an embedded Temporal', async () => {
  const folder = testFolder();
  const path = join(folder, 'agent.toml');
  writeFileSync(
    path,
    '[temporal]\nmode = "embedded"\n[openai]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "test"\n',
  );
  await expect(start(['worker', '--config', path])).rejects.toThrow(/worker ended with 2/);
});
