import { expect, test } from 'vitest';
import type { LlmRequest } from '../../../../core/models/index.ts';
import { mapToolNames } from '../tool-names.ts';
import { responsesBody } from './request.ts';

const empty: LlmRequest = { instructions: '', input: [], tools: [] };
const bodyOf = (request: Partial<LlmRequest>) => {
  const whole = { ...empty, ...request };
  const settings = { model: 'm', maxOutputTokens: 500, isOpenAi: false };
  return responsesBody(whole, mapToolNames(whole), settings);
};

test('MD-2 the body has max_output_tokens and stores nothing', () => {
  expect(bodyOf({ input: [{ type: 'user', text: 'hi' }] })).toEqual({
    model: 'm',
    input: [{ type: 'message', role: 'user', content: 'hi' }],
    max_output_tokens: 500,
    store: false,
    stream: true,
  });
});

test('MD-2 instructions stand beside the input, and a turn is a message and its calls', () => {
  const body = bodyOf({
    instructions: 'be brief',
    input: [
      { type: 'user', text: 'read both' },
      {
        type: 'assistant',
        text: 'reading',
        calls: [
          { id: 'c1', name: 'local/read', arguments: '{"path":"a"}' },
          { id: 'c2', name: 'local/read', arguments: '{"path":"b"}' },
        ],
      },
      { type: 'tool_result', callId: 'c1', text: 'A', isError: false },
      { type: 'tool_result', callId: 'c2', text: 'B', isError: true },
      { type: 'assistant', text: '', calls: [] },
    ],
    tools: [{ name: 'local/read', description: 'reads', inputSchema: { type: 'object' } }],
  });
  expect(body.instructions).toBe('be brief');
  expect(body.input).toEqual([
    { type: 'message', role: 'user', content: 'read both' },
    { type: 'message', role: 'assistant', content: 'reading' },
    { type: 'function_call', call_id: 'c1', name: 'local_read', arguments: '{"path":"a"}' },
    { type: 'function_call', call_id: 'c2', name: 'local_read', arguments: '{"path":"b"}' },
    { type: 'function_call_output', call_id: 'c1', output: 'A' },
    { type: 'function_call_output', call_id: 'c2', output: 'B' },
  ]);
  expect(body.tools).toEqual([
    {
      type: 'function',
      name: 'local_read',
      description: 'reads',
      parameters: { type: 'object' },
      strict: false,
    },
  ]);
});

test('MD-9 arguments of the history that are no JSON object go back as {}', () => {
  const calls = ['{"path": "a', '', '"text"', '{"path":"a"}'].map((text, n) => ({
    id: `c${n}`,
    name: 'read',
    arguments: text,
  }));
  const { input } = bodyOf({ input: [{ type: 'assistant', text: '', calls }] });
  const sent = (Array.isArray(input) ? input : []).map((item) => 'arguments' in item && item.arguments);
  expect(sent).toEqual(['{}', '{}', '{}', '{"path":"a"}']);
});

test('half a surrogate pair, which some servers cannot parse, is replaced', () => {
  const { input } = bodyOf({ input: [{ type: 'user', text: 'cut \ud83d' }] });
  expect(JSON.stringify(input)).toContain('cut \ufffd');
});

test('MD-2 a schema, an effort and a cache key are passed on', () => {
  expect(
    bodyOf({
      output: { name: 'my answer', schema: { type: 'object' } },
      effort: 'low',
      cacheKey: 'task-1',
    }),
  ).toMatchObject({
    text: {
      format: { type: 'json_schema', name: 'my_answer', schema: { type: 'object' }, strict: false },
    },
    reasoning: { effort: 'low' },
    prompt_cache_key: 'task-1',
  });
});
