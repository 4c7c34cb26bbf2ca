import { expect, test } from 'vitest';
import type { LlmRequest } from '../../../../core/models/index.ts';
import { mapToolNames } from '../tool-names.ts';
import { chatCompletionsBody } from './request.ts';

const empty: LlmRequest = { instructions: '', input: [], tools: [] };
const settings = { model: 'm', maxOutputTokens: 500, isOpenAi: false };
const bodyOf = (request: Partial<LlmRequest>, isOpenAi = false) => {
  const whole = { ...empty, ...request };
  return chatCompletionsBody(whole, mapToolNames(whole), { ...settings, isOpenAi });
};

test('MD-2 the body has max_tokens, asks for usage and never says store', () => {
  expect(bodyOf({ input: [{ type: 'user', text: 'hi' }] })).toEqual({
    model: 'm',
    messages: [{ role: 'user', content: 'hi' }],
    max_tokens: 500,
    stream: true,
    stream_options: { include_usage: true },
  });
});

test('MD-2 the instructions lead as a system message and the calls of a turn share one assistant message', () => {
  const body = bodyOf({
    instructions: 'be brief',
    input: [
      { type: 'user', text: 'read both' },
      { type: 'assistant', text: 'reading', calls: [] },
      { type: 'assistant', text: '', calls: [{ id: 'c1', name: 'local/read', arguments: '{"path":"a"}' }] },
      { type: 'assistant', text: '', calls: [{ id: 'c2', name: 'local/read', arguments: '{"path":"b"}' }] },
      { type: 'tool_result', callId: 'c1', text: 'A', isError: false },
      { type: 'tool_result', callId: 'c2', text: 'B', isError: true },
    ],
    tools: [{ name: 'local/read', description: 'reads', inputSchema: { type: 'object' } }],
  });
  expect(body.messages).toEqual([
    { role: 'system', content: 'be brief' },
    { role: 'user', content: 'read both' },
    {
      role: 'assistant',
      content: 'reading',
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'local_read', arguments: '{"path":"a"}' } },
        { id: 'c2', type: 'function', function: { name: 'local_read', arguments: '{"path":"b"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'A' },
    { role: 'tool', tool_call_id: 'c2', content: 'B' },
  ]);
  expect(body.tools).toEqual([
    {
      type: 'function',
      function: { name: 'local_read', description: 'reads', parameters: { type: 'object' } },
    },
  ]);
});

test('MD-9 arguments of the history that are no JSON object go back as {}', () => {
  const calls = ['{"path": "a', '', '"text"', '[1]', '{"path":"a"}'].map((text, n) => ({
    id: `c${n}`,
    name: 'read',
    arguments: text,
  }));
  const [message] = bodyOf({ input: [{ type: 'assistant', text: '', calls }] }).messages;
  const sent = message?.role === 'assistant' ? message.tool_calls : undefined;
  expect(sent?.map((call) => (call.type === 'function' ? call.function.arguments : ''))).toEqual([
    '{}',
    '{}',
    '{}',
    '{}',
    '{"path":"a"}',
  ]);
});

test('an assistant item with neither text nor calls is left out', () => {
  const input = [
    { type: 'user', text: 'hi' },
    { type: 'assistant', text: '', calls: [] },
  ] as const;
  expect(bodyOf({ input }).messages).toEqual([{ role: 'user', content: 'hi' }]);
});

test('half a surrogate pair, which some servers cannot parse, is replaced', () => {
  const [message] = bodyOf({ input: [{ type: 'user', text: 'cut \ud83d' }] }).messages;
  expect(message?.content).toBe('cut \ufffd');
});

test('a schema, an effort and a cache key are passed on, the key only where it is known', () => {
  const request = {
    output: { name: 'my answer', schema: { type: 'object' } },
    effort: 'low',
    cacheKey: 'task-1',
  } as const;
  expect(bodyOf(request, true)).toMatchObject({
    response_format: { type: 'json_schema', json_schema: { name: 'my_answer', schema: { type: 'object' } } },
    reasoning_effort: 'low',
    prompt_cache_key: 'task-1',
  });
  expect(bodyOf(request, false)).not.toHaveProperty('prompt_cache_key');
});
