import { describe, expect, test } from 'vitest';
import { invokeLlm } from '../../src/core/models/index.ts';
import { type ServerHabits, startModelServer } from '../../src/testing/index.ts';
import { APIS, ask, llmWith, never, readCall, requestOf } from './apis.ts';

const otherCall = { name: 'local_files_read', arguments: { path: 'b.txt' } };

describe.each(APIS)('answers and habits of servers, over $api', (api) => {
  test('text comes in pieces, and whole in the end', async () => {
    const { response, pieces } = await ask(api, { text: 'hello there' });
    expect(pieces.join('')).toBe('hello there');
    expect(pieces.length).toBeGreaterThan(1);
    expect(response).toMatchObject({ text: 'hello there', finish: 'stop', calls: [], model: 'test-model' });
  });

  test('MD-9 a first delta with content null adds no text', async () => {
    const { pieces } = await ask(api, { text: 'hello there' }, { contentNullFirst: true });
    expect(pieces.join('')).toBe('hello there');
  });

  test('MD-1 usage is what the server reported', async () => {
    const usage = { input: 11, cached: 7, output: 5, reasoning: 3 };
    expect((await ask(api, { text: 'ok', usage })).response.usage).toEqual(usage);
  });

  test('MD-9 arguments in pieces of one character make whole calls', async () => {
    const { response } = await ask(api, { calls: [readCall, otherCall] }, { argumentCharacters: true });
    expect(response.calls.map((call) => call.arguments)).toEqual(['{"path":"a.txt"}', '{"path":"b.txt"}']);
    expect(response.finish).toBe('tool_calls');
  });

  test('MD-9 ids without call_ are kept as they are', async () => {
    const { response } = await ask(api, { calls: [readCall] }, { ids: 'bare' });
    expect(response.calls).toEqual([
      { id: 'Xy7kQ20', name: 'local/files.read', arguments: '{"path":"a.txt"}' },
    ]);
  });

  test('MD-9 calls without ids get call_<n>', async () => {
    const { response } = await ask(api, { calls: [readCall, readCall] }, { ids: 'none' });
    expect(response.calls.map((call) => call.id)).toEqual(['call_1', 'call_2']);
  });

  test('MD-9 text and calls mixed in one reply both arrive', async () => {
    const { response, pieces } = await ask(api, { text: 'let me look', calls: [readCall] });
    expect(pieces.join('')).toBe('let me look');
    expect(response).toMatchObject({ text: 'let me look', finish: 'tool_calls' });
    expect(response.calls).toHaveLength(1);
  });

  test('MD-2 calls are run when the server says stop, too', async () => {
    const { response } = await ask(api, { calls: [readCall], finishReason: 'stop' });
    expect(response).toMatchObject({ finish: 'tool_calls', calls: [{ name: 'local/files.read' }] });
  });

  test('MD-9 calls of an answer that was cut off by length are never emitted', async () => {
    const broken = { name: 'local_files_read', arguments: '{"path": "a.t' };
    const { response } = await ask(api, { text: 'on it', calls: [readCall, broken], finishReason: 'length' });
    expect(response).toMatchObject({ text: 'on it', finish: 'length', calls: [] });
  });

  test('MD-2 a refusal and a content filter finish as refusal, without calls', async () => {
    const calls = [readCall];
    expect((await ask(api, { refusal: 'I will not do that', calls })).response).toMatchObject({
      text: 'I will not do that',
      finish: 'refusal',
      calls: [],
    });
    const filtered = { text: 'as I was', calls, finishReason: 'content_filter' };
    expect((await ask(api, filtered)).response).toMatchObject({ finish: 'refusal', calls: [] });
  });

  test('an empty answer is an answer', async () => {
    const { response } = await ask(api, {});
    expect(response).toMatchObject({ text: '', calls: [], finish: 'stop', model: 'test-model' });
  });

  test('arguments that are not JSON are handed on as they are', async () => {
    const { response } = await ask(api, { calls: [{ ...readCall, arguments: '{"path": ' }] });
    expect(response).toMatchObject({ finish: 'tool_calls', calls: [{ arguments: '{"path": ' }] });
  });

  test('MD-9 broken arguments of the history are not sent back to a server that refuses them for ever', async () => {
    const calls = [{ id: 'c1', name: 'local/files.read', arguments: '{"path": "a' }];
    const history = requestOf(
      { type: 'assistant', text: '', calls },
      { type: 'tool_result', callId: 'c1', text: 'the arguments are not JSON', isError: true },
    );
    const { response } = await ask(api, { text: 'sorry' }, { refuseBrokenHistory: true }, history);
    expect(response.text).toBe('sorry');
  });

  test.each<ServerHabits>([
    {},
    { sameIndex: true },
    { argumentCharacters: true },
    { sameIndex: true, argumentCharacters: true },
  ])('MD-9 the same call twice in a reply is one call (%j)', async (habits) => {
    const { response } = await ask(api, { calls: [readCall] }, { repeatCalls: true, ...habits });
    expect(response.calls.map((call) => call.arguments)).toEqual(['{"path":"a.txt"}']);
  });

  test('MD-9 calls that all have index 0 are kept apart', async () => {
    const { response } = await ask(api, { calls: [readCall, otherCall] }, { sameIndex: true });
    expect(response.calls.map((call) => call.arguments)).toEqual(['{"path":"a.txt"}', '{"path":"b.txt"}']);
  });

  test('MD-9 a call written as a fenced block of text stays text', async () => {
    const text = '```json\n{"name": "local_files_read", "arguments": {"path": "a.txt"}}\n```';
    const { response } = await ask(api, { text });
    expect(response).toMatchObject({ text, finish: 'stop', calls: [] });
  });

  test('TL-9 names cross in definitions, history and returned calls', async () => {
    await using server = await startModelServer({ replies: [{ calls: [readCall] }] });
    const request = requestOf(
      { type: 'assistant', text: '', calls: [{ id: 'c1', name: 'gone/tool', arguments: '{}' }] },
      { type: 'tool_result', callId: 'c1', text: 'ok', isError: false },
    );
    const response = await invokeLlm(llmWith(api, { baseUrl: server.url }), request, never);
    expect(response.calls[0]?.name).toBe('local/files.read');
    const sent = JSON.stringify(server.requests[0]?.body);
    expect(sent).toContain('"name":"local_files_read"');
    expect(sent).toContain('"name":"gone_tool"');
  });
});
