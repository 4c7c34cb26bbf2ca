import { expect, test } from 'vitest';
import { mapToolNames } from '../tool-names.ts';
import { ChatCompletionsReader } from './answer.ts';

const names = mapToolNames({ tools: [], input: [] });
const finished = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };

function read(...events: readonly object[]) {
  const reader = new ChatCompletionsReader(names, 'asked');
  const texts = events.map((event) => reader.add(event));
  return { texts, response: reader.finish() };
}

test('MD-9 usage may come in a last event with no choices', () => {
  const usage = { prompt_tokens: 11, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 7 } };
  const { response } = read(finished, { choices: [], usage });
  expect(response.usage).toEqual({ input: 11, cached: 7, output: 5, reasoning: 0 });
});

test('MD-9 null, or nothing, where the reference promises a value is survived', () => {
  const { texts, response } = read(
    { choices: [{ delta: { role: 'assistant', content: null, tool_calls: null } }], usage: null },
    { choices: null },
    { choices: [{ delta: { content: 'hi' } }] },
    { model: 'served', choices: [{ delta: null, finish_reason: 'stop' }] },
  );
  expect(texts).toEqual(['', '', 'hi', '']);
  expect(response).toMatchObject({ text: 'hi', model: 'served', finish: 'stop' });
});

test('only the first of several choices is heard', () => {
  const { response } = read(
    { choices: [{ index: 1, delta: { content: 'other' } }] },
    { choices: [{ index: 0, delta: { content: 'mine' } }] },
    finished,
  );
  expect(response.text).toBe('mine');
});
