import { expect, test } from 'vitest';
import { startModelServer } from './model-server.ts';

const post = (url: string, body: object) =>
  fetch(`${url}/chat/completions`, { method: 'POST', body: JSON.stringify(body) });

test('a request that does not ask for a stream gets one JSON body', async () => {
  await using server = await startModelServer({
    replies: [{ text: 'hello', calls: [{ name: 'f', arguments: { n: 1 } }] }],
  });
  const response = await post(server.url, { model: 'm', messages: [] });
  expect(await response.json()).toMatchObject({
    object: 'chat.completion',
    model: 'm',
    choices: [
      {
        message: {
          content: 'hello',
          tool_calls: [{ id: 'call_abc0', function: { name: 'f', arguments: '{"n":1}' } }],
        },
        finish_reason: 'tool_calls',
      },
    ],
  });
});

test('a stream has usage only when it is asked for, and ends in [DONE]', async () => {
  await using server = await startModelServer({ replies: () => ({ text: 'hello' }) });
  const plain = await (await post(server.url, { stream: true })).text();
  const asked = await (
    await post(server.url, { stream: true, stream_options: { include_usage: true } })
  ).text();
  expect(plain).not.toContain('usage');
  expect(asked).toContain('"choices":[],"usage":');
  expect(plain.endsWith('data: [DONE]\n\n')).toBe(true);
});

test('only replies that were delivered to the end count as completed', async () => {
  await using server = await startModelServer({
    replies: [{ text: 'one' }, { fault: 'status', status: 500 }, { fault: 'truncate', text: 'two' }],
  });
  for (let n = 0; n < 3; n++) await (await post(server.url, { stream: true })).text();
  expect(await Promise.all(server.requests.map((request) => request.closed))).toEqual([true, true, true]);
  expect(server.completed).toBe(1);
});

test('a request after the last reply is told so', async () => {
  await using server = await startModelServer({ replies: [] });
  const response = await post(server.url, {});
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('has 0 replies and this is request 1');
});

test('another path is not found', async () => {
  await using server = await startModelServer({ replies: [] });
  expect((await fetch(`${server.url}/responses`, { method: 'POST', body: '{}' })).status).toBe(404);
});

test('closing ends held replies', async () => {
  const hold = Promise.withResolvers<void>();
  const server = await startModelServer({ replies: [{ text: 'late', hold: hold.promise }] });
  const response = await post(server.url, { stream: true });
  await server.close();
  await expect(response.text()).rejects.toThrow();
  expect(server.completed).toBe(0);
  hold.resolve();
});
