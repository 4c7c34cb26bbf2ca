import { expect, test } from 'vitest';
import type { JsonObject } from '../core/base/index.ts';
import { startModelServer } from './model-server.ts';

const post = (url: string, body: object, path = '/chat/completions') =>
  fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) });

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

test('the same replies are spoken in Responses: one body, or named and numbered events', async () => {
  await using server = await startModelServer({
    replies: () => ({ text: 'hello', calls: [{ name: 'f', arguments: { n: 1 } }] }),
  });
  const whole: unknown = await (await post(server.url, { model: 'm' }, '/responses')).json();
  expect(whole).toMatchObject({
    object: 'response',
    model: 'm',
    status: 'completed',
    output: [
      { type: 'message', content: [{ type: 'output_text', text: 'hello' }] },
      { type: 'function_call', call_id: 'call_abc0', name: 'f', arguments: '{"n":1}' },
    ],
  });
  const stream = await (await post(server.url, { model: 'm', stream: true }, '/responses')).text();
  const events = stream.trimEnd().split('\n\n').map(eventOf);
  expect(events.map(({ name, data }) => [name, data.sequence_number])).toEqual(
    events.map(({ data }, n) => [data.type, n]),
  );
  expect(events.map(({ name }) => name?.replace('response.', ''))).toEqual([
    ...['created', 'in_progress', 'output_item.added', 'content_part.added', 'output_text.delta'],
    ...['output_text.done', 'content_part.done', 'output_item.done', 'output_item.added'],
    ...['function_call_arguments.delta', 'function_call_arguments.done', 'output_item.done', 'completed'],
  ]);
  expect(events.at(-1)?.data.response).toEqual(whole);
});

test.each([
  ['length', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
])('an answer that ends by %s is incomplete in Responses', async (finishReason, reason) => {
  await using server = await startModelServer({ replies: [{ text: 'cut', finishReason }] });
  const stream = await (await post(server.url, { stream: true }, '/responses')).text();
  expect(eventOf(stream.trimEnd().split('\n\n').at(-1) ?? '').data).toMatchObject({
    type: 'response.incomplete',
    response: { status: 'incomplete', incomplete_details: { reason } },
  });
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
  for (const path of ['/embeddings', '/responses/resp_1', '/chat'])
    expect((await post(server.url, {}, path)).status).toBe(404);
  expect((await fetch(`${server.url}/responses`)).status).toBe(404);
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

/** One server-sent event. */
function eventOf(block: string): { readonly name: string | undefined; readonly data: JsonObject } {
  const [, name, data = '{}'] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
  return { name, data: JSON.parse(data) as JsonObject };
}
