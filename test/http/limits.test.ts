import { describe, expect, onTestFinished, test } from 'vitest';
import { HarnessError } from '../../src/core/base/index.ts';
import type { LlmRequest } from '../../src/core/models/index.ts';
import { reply } from '../../src/testing/index.ts';
import { startTestHarness } from '../support/harness.ts';
import { startBareServer } from './bare-server.ts';
import { BINDINGS, get, openStream, post, rpc, say } from './raw.ts';

const alice = { participant: 'alice' };

describe.each(BINDINGS)('over %s', (binding) => {
  test('an address that asks too often is told when to come back, in the form of the binding', async () => {
    const { url } = await startTestHarness([], { settings: { server: { rate_limit_per_minute: 3 } } });
    const ask = () => rpc(url, 'GetTask', { id: 'none' }, { ...alice, binding });
    const answers = [await ask(), await ask(), await ask(), await ask(), await ask()];
    expect(answers.map(({ error }) => error?.code)).toEqual([-32001, -32001, -32001, -32000, -32000]);
    const last = answers.at(-1);
    expect(last?.status).toBe(429);
    expect(Number(last?.headers.get('retry-after'))).toBeGreaterThan(10);
    expect(Number(last?.headers.get('retry-after'))).toBeLessThanOrEqual(20);
    expect(last?.error).toMatchObject({
      message: expect.stringContaining('server.rate_limit_per_minute'),
      data: [{ reason: 'RATE_LIMITED', domain: 'a2a-protocol.org' }],
    });
    expect((await get(`${url}.well-known/agent-card.json`)).status).toBe(429);
    expect((await get(`${url}healthz`)).status).toBe(200);
  });

  test('a caller has so many running tasks; the next is refused until one waits or is done', async () => {
    const held = Promise.withResolvers<void>();
    onTestFinished(() => held.resolve());
    const script = async (request: LlmRequest) => {
      if (JSON.stringify(request.input).includes('slow')) await held.promise;
      return reply('Done.');
    };
    const settings = { server: { max_running_tasks_per_caller: 2 } };
    const { url } = await startTestHarness(script, { settings });
    const send = (text: string, participant = 'alice', returnImmediately = true) => {
      const { message } = say(text);
      return rpc(
        url,
        'SendMessage',
        { message, configuration: { returnImmediately } },
        { participant, binding },
      );
    };
    // One that waits for its next message is none of them.
    expect((await send('quick', 'alice', false)).error).toBeUndefined();
    const running = [await send('slow'), await send('slow')];
    expect(running.map(({ error }) => error)).toEqual([undefined, undefined]);
    const refused = await send('quick');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    expect(refused.error).toMatchObject({
      code: -32000,
      message: expect.stringContaining('server.max_running_tasks_per_caller'),
      data: [{ reason: 'TOO_MANY_TASKS' }],
    });
    const stream = await openStream(url, 'SendStreamingMessage', say('quick'), { ...alice, binding });
    expect(stream.response.status).toBe(429);
    await stream.rest();
    expect((await send('quick', 'bob')).error).toBeUndefined();
    held.resolve();
    await expect.poll(async () => (await send('quick')).error, { timeout: 10_000 }).toBeUndefined();
  });

  test.each(['worker_unavailable', 'temporal_unavailable', 'store_unavailable', 'store.write'] as const)(
    '%s says which part was not there, and that trying again may help',
    async (code) => {
      const admit = () => Promise.reject(new HarnessError(code, 'it was not there'));
      const { url } = await startBareServer({ admission: { admit, open: admit } });
      const answer = await rpc(url, 'SendMessage', say('Hi'), { ...alice, binding });
      const reason = code === 'store.write' ? 'store_unavailable' : code;
      expect(answer.error).toMatchObject({ code: -32603, message: 'it was not there', data: [{ reason }] });
      expect(answer.status).toBe(binding === 'JSONRPC' ? 200 : 503);
      expect(answer.headers.get('retry-after')).toBe('5');
    },
  );

  test('what fails inside says nothing of the inside', async () => {
    const admit = () => Promise.reject(new TypeError('cannot read secrets of /etc/passwd'));
    const { url } = await startBareServer({ admission: { admit, open: admit } });
    const answer = await rpc(url, 'SendMessage', say('Hi'), { ...alice, binding });
    expect(answer.status).toBe(binding === 'JSONRPC' ? 200 : 500);
    expect(answer.error).toMatchObject({
      code: -32603,
      message: 'internal error',
      data: [{ reason: 'INTERNAL' }],
    });
    expect(JSON.stringify(answer)).not.toContain('passwd');
  });
});

test('without an address there is no limit to its rate', async () => {
  const { harness, url } = await startTestHarness([], { settings: { server: { rate_limit_per_minute: 1 } } });
  const ask = (origin?: { peer: string }) => harness.fetch(new Request(`${url}tasks/none`), origin);
  expect([(await ask()).status, (await ask()).status]).toEqual([400, 400]);
  expect((await ask({ peer: '192.0.2.1' })).status).toBe(400);
  expect((await ask({ peer: '192.0.2.1' })).status).toBe(429);
  expect((await ask({ peer: '192.0.2.2' })).status).toBe(400);
});

test('a form of a web page cannot send a message', async () => {
  const { url } = await startTestHarness([], { settings: { server: { default_participant: 'alice' } } });
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: say('Hi') });
  for (const address of [`${url}?A2A-Version=1.0`, `${url}message:send?A2A-Version=1.0`]) {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', '']) {
      const response = await post(address, body, { version: null, headers: { 'content-type': type } });
      expect(await response.text(), `${address} ${type}`).toContain('CONTENT_TYPE_NOT_SUPPORTED');
    }
  }
});
