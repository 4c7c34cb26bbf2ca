import { expect, test } from 'vitest';
import { createAbort, type ProviderError, RetryableProviderError } from '../../../core/base/index.ts';
import { invokeLlm, type LlmEvent, type LlmInputItem, type LlmRequest } from '../../../core/models/index.ts';
import {
  contextExceeded,
  type ModelReply,
  type ServerHabits,
  startModelServer,
} from '../../../testing/index.ts';
import { createChatCompletionsLlm } from './client.ts';

const readTool = { name: 'local/files.read', description: 'reads a file', inputSchema: { type: 'object' } };
const readCall = { name: 'local_files_read', arguments: { path: 'a.txt' } };

function requestOf(...input: LlmInputItem[]): LlmRequest {
  return { instructions: 'be brief', input: [{ type: 'user', text: 'hi' }, ...input], tools: [readTool] };
}

function llmAt(baseUrl: string, idleTimeoutMs?: number) {
  return createChatCompletionsLlm({
    model: 'test-model',
    baseUrl,
    timeoutMs: 5000,
    maxOutputTokens: 100,
    ...(idleTimeoutMs !== undefined && { idleTimeoutMs }),
  });
}

/** One request to a server with this reply and these habits: the answer, and the pieces of text before it. */
async function ask(reply: ModelReply, habits: ServerHabits = {}, request = requestOf()) {
  await using server = await startModelServer({ replies: [reply], habits });
  const pieces: string[] = [];
  const response = await invokeLlm(llmAt(server.url), request, createAbort().signal, (p) => pieces.push(p));
  return { response, pieces };
}

/** Every event, and the error that ended the stream. */
async function collect(events: AsyncIterable<LlmEvent>): Promise<{ events: LlmEvent[]; error: unknown }> {
  const seen: LlmEvent[] = [];
  try {
    for await (const event of events) seen.push(event);
    return { events: seen, error: undefined };
  } catch (error) {
    return { events: seen, error };
  }
}

test('MD-9 a first delta with content null adds no text', async () => {
  const { response, pieces } = await ask({ text: 'hello there' }, { contentNullFirst: true });
  expect(pieces.join('')).toBe('hello there');
  expect(pieces.length).toBeGreaterThan(1);
  expect(response).toMatchObject({ text: 'hello there', finish: 'stop', calls: [] });
});

test('MD-9 usage is asked for and read from the last event, which has no choices', async () => {
  const { response } = await ask({ text: 'ok', usage: { input: 11, cached: 7, output: 5, reasoning: 3 } });
  expect(response.usage).toEqual({ input: 11, cached: 7, output: 5, reasoning: 3 });
});

test('MD-9 argument pieces of one character with only their index make whole calls', async () => {
  const calls = [readCall, { name: 'local_files_read', arguments: { path: 'b.txt' } }];
  const { response } = await ask({ calls }, { argumentCharacters: true });
  expect(response.calls.map((call) => call.arguments)).toEqual(['{"path":"a.txt"}', '{"path":"b.txt"}']);
  expect(response.finish).toBe('tool_calls');
});

test('MD-9 ids without call_ are kept as they are', async () => {
  const { response } = await ask({ calls: [readCall] }, { ids: 'bare' });
  expect(response.calls).toEqual([
    { id: 'Xy7kQ20', name: 'local/files.read', arguments: '{"path":"a.txt"}' },
  ]);
});

test('MD-9 calls without ids get call_<n>', async () => {
  const { response } = await ask({ calls: [readCall, readCall] }, { ids: 'none' });
  expect(response.calls.map((call) => call.id)).toEqual(['call_1', 'call_2']);
});

test('MD-9 text and calls mixed in one reply both arrive', async () => {
  const { response, pieces } = await ask({ text: 'let me look', calls: [readCall] });
  expect(pieces.join('')).toBe('let me look');
  expect(response).toMatchObject({ text: 'let me look', finish: 'tool_calls' });
  expect(response.calls).toHaveLength(1);
});

test('MD-2 calls are run when the server says stop, too', async () => {
  const { response } = await ask({ calls: [readCall], finishReason: 'stop' });
  expect(response).toMatchObject({ finish: 'tool_calls', calls: [{ name: 'local/files.read' }] });
});

test('MD-9 calls of an answer that was cut off by length are never emitted', async () => {
  const broken = { name: 'local_files_read', arguments: '{"path": "a.t' };
  const { response } = await ask({ text: 'on it', calls: [readCall, broken], finishReason: 'length' });
  expect(response).toMatchObject({ text: 'on it', finish: 'length', calls: [] });
});

test('MD-9 broken arguments of the history are not sent back to a server that refuses them for ever', async () => {
  const history = requestOf(
    {
      type: 'assistant',
      text: '',
      calls: [{ id: 'c1', name: 'local/files.read', arguments: '{"path": "a' }],
    },
    { type: 'tool_result', callId: 'c1', text: 'the arguments are not JSON', isError: true },
  );
  const { response } = await ask({ text: 'sorry' }, { refuseBrokenHistory: true }, history);
  expect(response.text).toBe('sorry');
});

test.each<ServerHabits>([
  {},
  { sameIndex: true },
  { argumentCharacters: true },
  { sameIndex: true, argumentCharacters: true },
])('MD-9 the same call twice in a reply is one call (%j)', async (habits) => {
  const { response } = await ask({ calls: [readCall] }, { repeatCalls: true, ...habits });
  expect(response.calls.map((call) => call.arguments)).toEqual(['{"path":"a.txt"}']);
});

test('MD-9 calls that all have index 0 are kept apart', async () => {
  const calls = [readCall, { name: 'local_files_read', arguments: { path: 'b.txt' } }];
  const { response } = await ask({ calls }, { sameIndex: true });
  expect(response.calls.map((call) => call.arguments)).toEqual(['{"path":"a.txt"}', '{"path":"b.txt"}']);
});

test('MD-9 a call written as a fenced block of text stays text', async () => {
  const text = '```json\n{"name": "local_files_read", "arguments": {"path": "a.txt"}}\n```';
  const { response } = await ask({ text });
  expect(response).toMatchObject({ text, finish: 'stop', calls: [] });
});

test('MD-9 comment lines while the prompt is read are survived', async () => {
  const hold = Promise.withResolvers<void>();
  await using server = await startModelServer({
    replies: [{ text: 'read it all', hold: hold.promise }],
    habits: { commentLines: 50 },
  });
  const answer = invokeLlm(llmAt(server.url), requestOf(), createAbort().signal);
  hold.resolve();
  expect((await answer).text).toBe('read it all');
});

test('MD-9 silence beyond the idle limit ends the request, comment lines or not', async () => {
  const hold = Promise.withResolvers<void>();
  await using server = await startModelServer({
    replies: [{ text: 'too late', hold: hold.promise }],
    habits: { commentLines: 1, commentEveryMs: 5 },
  });
  const { error } = await collect(llmAt(server.url, 60).stream(requestOf(), createAbort().signal));
  expect(error).toBeInstanceOf(RetryableProviderError);
  expect((error as Error).message).toContain('was silent for 60 ms');
  expect(await server.requests[0]?.closed).toBe(false);
  hold.resolve();
});

test('MD-9 exceed_context_size_error is told apart, with the numbers the server gave', async () => {
  await using server = await startModelServer({ replies: [contextExceeded(9000, 8192)] });
  const { error } = await collect(llmAt(server.url).stream(requestOf(), createAbort().signal));
  expect(error).toMatchObject({
    code: 'provider.context_exceeded',
    status: 400,
    retryable: false,
    details: { promptTokens: 9000, contextWindow: 8192 },
  });
});

test('MD-9 context_length_exceeded of OpenAI is the same error', async () => {
  const body = {
    error: { code: 'context_length_exceeded', message: 'too long', type: 'invalid_request_error' },
  };
  await using server = await startModelServer({ replies: [{ fault: 'status', status: 400, body }] });
  const { error } = await collect(llmAt(server.url).stream(requestOf(), createAbort().signal));
  expect(error).toMatchObject({ code: 'provider.context_exceeded' });
});

test('MD-9 a 500 for a malformed request is one clear line', async () => {
  const body = { error: { code: 500, message: 'bad\n  grammar', type: 'server_error' } };
  await using server = await startModelServer({ replies: [{ fault: 'status', status: 500, body }] });
  const { error } = await collect(llmAt(server.url).stream(requestOf(), createAbort().signal));
  expect(error).toBeInstanceOf(RetryableProviderError);
  expect((error as ProviderError).message).toMatch(
    /^model endpoint http:\/\/127\.0\.0\.1:\d+ api=chat_completions model=test-model answered 500: bad grammar; /,
  );
});

test.each(['truncate', 'no_finish'] as const)(
  'MD-4 a stream that ends before its finish (%s) is an error and emits no call',
  async (fault) => {
    const reply = { fault, text: 'a longer text', calls: [readCall] };
    await using server = await startModelServer({ replies: [reply] });
    const { events, error } = await collect(llmAt(server.url).stream(requestOf(), createAbort().signal));
    expect(error).toMatchObject({ code: 'provider.error', status: 200, retryable: false });
    expect(events.filter((event) => event.type === 'done')).toEqual([]);
  },
);

test('TL-9 names cross in definitions, history and returned calls', async () => {
  await using server = await startModelServer({ replies: [{ calls: [readCall] }] });
  const request = requestOf(
    { type: 'assistant', text: '', calls: [{ id: 'c1', name: 'gone/tool', arguments: '{}' }] },
    { type: 'tool_result', callId: 'c1', text: 'ok', isError: false },
  );
  const response = await invokeLlm(llmAt(server.url), request, createAbort().signal);
  expect(response.calls[0]?.name).toBe('local/files.read');
  const sent = JSON.stringify(server.requests[0]?.body);
  expect(sent).toContain('"name":"local_files_read"');
  expect(sent).toContain('"name":"gone_tool"');
});
