import { expect, test } from 'vitest';
import { mapToolNames } from '../tool-names.ts';
import { ResponsesReader } from './answer.ts';

const names = mapToolNames({ tools: [], input: [] });
const completed = (response: object = {}) => ({ type: 'response.completed', response });
const delta = (text: string, outputIndex?: number) => ({
  type: 'response.output_text.delta',
  delta: text,
  ...(outputIndex !== undefined && { output_index: outputIndex }),
});
const callItem = (callId: string, text: unknown = '{}') => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: callId,
  name: 'f',
  arguments: text,
});
const itemDone = (item: object) => ({ type: 'response.output_item.done', item });

function read(...events: readonly object[]) {
  const reader = new ResponsesReader(names, 'asked');
  const texts = events.map((event) => reader.add(event));
  return { texts, response: reader.finish() };
}

test('a call is known by its call_id, not by the id of its item', () => {
  expect(read(itemDone(callItem('call_7')), completed()).response.calls).toEqual([
    { id: 'call_7', name: 'f', arguments: '{}' },
  ]);
});

test('an empty line stands between two messages, in the pieces too', () => {
  const { texts, response } = read(
    delta('Let me ', 0),
    delta('look.', 0),
    delta('It is 42.', 2),
    completed(),
  );
  expect(texts.join('')).toBe('Let me look.\n\nIt is 42.');
  expect(response.text).toBe(texts.join(''));
});

test('a server that streams nothing but the end is heard all the same', () => {
  const message = { type: 'message', content: [{ type: 'output_text', text: 'hello' }] };
  const { texts, response } = read(
    completed({ model: 'served', output: [message, callItem('c', { n: 1 })] }),
  );
  expect(texts).toEqual(['hello']);
  expect(response).toMatchObject({
    text: 'hello',
    model: 'served',
    calls: [{ id: 'c', name: 'f', arguments: '{"n":1}' }],
  });
});

test('what was streamed is not taken from the end once more', () => {
  const message = { type: 'message', content: [{ type: 'output_text', text: 'hello' }] };
  const item = callItem('c');
  const { response } = read(
    delta('hello', 0),
    itemDone(message),
    itemDone(item),
    completed({ output: [message, item] }),
  );
  expect(response).toMatchObject({ text: 'hello', calls: [{ id: 'c' }] });
  expect(response.calls).toHaveLength(1);
});

test('a refusal that stands in the end only is a refusal', () => {
  const message = { type: 'message', content: [{ type: 'refusal', refusal: 'no' }] };
  expect(read(completed({ output: [message, callItem('c')] })).response).toMatchObject({
    text: 'no',
    finish: 'refusal',
    calls: [],
  });
});

test('a refusal that was streamed only is a refusal', () => {
  const refusal = { type: 'response.refusal.delta', output_index: 0, delta: 'no' };
  expect(read(refusal, itemDone(callItem('c')), completed()).response).toMatchObject({
    text: 'no',
    finish: 'refusal',
    calls: [],
  });
});

test('calls with neither id nor arguments are kept apart', () => {
  const item = { type: 'function_call', name: 'f' };
  expect(read(itemDone(item), itemDone(item), completed()).response.calls).toEqual([
    { id: 'call_1', name: 'f', arguments: '{}' },
    { id: 'call_2', name: 'f', arguments: '{}' },
  ]);
});

test.each([
  ['response.incomplete', { incomplete_details: { reason: 'max_output_tokens' } }],
  ['response.incomplete', {}],
  ['response.completed', { incomplete_details: { reason: 'max_output_tokens' } }],
])('%s with %j was cut off, and its calls are dropped', (type, response) => {
  expect(read(itemDone(callItem('c')), { type, response }).response).toMatchObject({
    finish: 'length',
    calls: [],
  });
});

test('reasoning, pieces of arguments and events of tomorrow are skipped', () => {
  const { texts, response } = read(
    { type: 'response.created', response: {} },
    itemDone({ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] }),
    { type: 'response.reasoning_text.delta', delta: 'hm' },
    { type: 'response.function_call_arguments.delta', delta: '{"n"' },
    { type: 'response.hologram.delta', delta: { x: 1 } },
    delta('hi', 1),
    completed(),
  );
  expect(texts.join('')).toBe('hi');
  expect(response).toMatchObject({ text: 'hi', calls: [], model: 'asked', finish: 'stop' });
});

test('an error event without a name of its own on the wire is an error, with or without details', () => {
  const reader = new ResponsesReader(names, 'asked');
  const event = { type: 'error', code: 'server_error', message: 'oops', param: null, sequence_number: 3 };
  expect(() => reader.add(event)).toThrow('oops');
  expect(() => reader.add({ type: 'response.failed', response: { error: null } })).toThrow('no reason');
});
