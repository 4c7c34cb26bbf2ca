import { NativeConnection } from '@temporalio/worker';
import { expect, inject, test } from 'vitest';
import { startWorker } from '../../src/service/durable/worker/index.ts';
import { Harness, parseSettings } from '../../src/service/harness/index.ts';
import { startTestHarness } from '../support/harness.ts';
import { startBareServer } from './bare-server.ts';

async function ask(url: string, path: string, init: RequestInit = {}) {
  const response = await fetch(`${url}${path}`, init);
  return [response.status, await response.json()];
}

test('a harness that runs is healthy and ready, for anybody who asks', async () => {
  const { url } = await startTestHarness([]);
  expect(await ask(url, 'healthz')).toEqual([200, { status: 'ok' }]);
  expect(await ask(url, 'readyz')).toEqual([
    200,
    { status: 'ready', store: true, temporal: true, worker: true },
  ]);
  const head = await fetch(`${url}readyz`, { method: 'HEAD' });
  expect([head.status, head.headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect((await fetch(`${url}healthz`, { method: 'POST' })).status).toBe(405);
});

test('a server without a worker is ready once one polls elsewhere', async () => {
  const { url, harness } = await startTestHarness([], { withWorker: false });
  expect(await ask(url, 'readyz')).toEqual([
    503,
    { status: 'not ready', store: true, temporal: true, worker: false },
  ]);
  expect(await ask(url, 'healthz')).toEqual([200, { status: 'ok' }]);

  const connection = await NativeConnection.connect({ address: inject('temporal') });
  const { namespace, taskQueue } = harness.settings.temporal;
  const activities = {} as Parameters<typeof startWorker>[0]['activities'];
  const worker = await startWorker({ connection, namespace, taskQueue, activities, maxCachedWorkflows: 10 });
  let answer: unknown[] = [];
  while (answer[0] !== 200) answer = await ask(url, 'readyz');
  expect(answer[1]).toMatchObject({ status: 'ready', worker: true });
  await worker.shutdown();
  await connection.close();
});

test('before it is started, a harness is neither', async () => {
  const harness = new Harness(parseSettings({ agent: { id: 'a' } }, {}));
  for (const path of ['healthz', 'readyz']) {
    expect((await harness.fetch(new Request(`http://127.0.0.1:8080/${path}`))).status).toBe(503);
  }
});

test('each part that is not there is named, and one that does not answer is not waited for', async () => {
  const { url } = await startBareServer({
    readiness: {
      store: async () => {},
      temporal: () => new Promise<void>(() => {}),
      worker: () => Promise.reject(new Error('gone, at 10.0.0.1')),
    },
  });
  const started = performance.now();
  expect(await ask(url, 'readyz')).toEqual([
    503,
    { status: 'not ready', store: true, temporal: false, worker: false },
  ]);
  expect(performance.now() - started).toBeLessThan(4000);
});

test('however many ask at once, the parts are asked once', async () => {
  let asked = 0;
  const answer = Promise.withResolvers<void>();
  const store = () => {
    asked += 1;
    return answer.promise;
  };
  const { url } = await startBareServer({ readiness: { store } });
  const all = Array.from({ length: 20 }, () => ask(url, 'readyz'));
  await ask(url, 'healthz');
  answer.resolve();
  for (const each of await Promise.all(all)) expect(each).toEqual([200, { status: 'ready', store: true }]);
  expect(asked).toBeLessThan(20);
  expect(await ask(url, 'readyz')).toEqual([200, { status: 'ready', store: true }]);
});
