import { expect, it } from 'vitest';
import type { LlmInputItem } from '../core/models/index.ts';
import { playShop } from './story.ts';

/** Plays a conversation to its end, with tools that answer from a table; returns the calls and the last text. */
function play(message: string, answers: readonly string[], results: Readonly<Record<string, object>>) {
  const input: LlmInputItem[] = [{ type: 'user', text: `[message from mara]\n${message}` }];
  const calls: string[] = [];
  const left = [...answers];
  for (let turn = 0; turn < 20; turn++) {
    const { text = '', calls: made = [] } = playShop({ instructions: '', tools: [], input });
    if (made.length === 0) return { calls, text };
    const withIds = made.map((call, at) => ({
      ...call,
      id: `c${turn}_${at}`,
      arguments: JSON.stringify(call.arguments),
    }));
    input.push({ type: 'assistant', text, calls: withIds });
    for (const { id, name } of withIds) {
      calls.push(name.replace(/^local\//, ''));
      const result = results[name.replace(/^local\//, '')];
      input.push({
        type: 'tool_result',
        callId: id,
        text: JSON.stringify(result ?? {}),
        isError: result === undefined && name.startsWith('local/'),
      });
    }
    if (made.some(({ name }) => name === 'ask_participant'))
      input.push({
        type: 'user',
        text: `[message from mara in answer to the question "x"]\n${left.shift() ?? 'refund'}`,
      });
  }
  throw new Error('the story has no end');
}

const lamp = { items: [{ sku: 'LAMP-7', name: 'Lamp', price: 89, quantity: 1 }] };

it.each([
  ['replacement', 'refunds.record_replacement', 'a new Lamp is on its way'],
  ['a refund, please', 'refunds.record_refund', '89 EUR go back to you'],
])('records what the customer chose: %s', (choice, recorded, says) => {
  const results = { 'orders.find_order': lamp, 'orders.stock': { available: 3 }, [recorded]: { number: 1 } };
  const { calls, text } = play('Order 1042 (LAMP-7) is broken', [choice], results);
  expect(calls).toEqual([
    'create_plan',
    'orders.find_order',
    'orders.stock',
    'complete_step',
    'complete_step',
    'ask_participant',
    recorded,
    'complete_step',
    'complete_step',
  ]);
  expect(text).toContain(says);
});

it('offers no replacement that is sold out, and asks again', () => {
  const results = {
    'orders.find_order': lamp,
    'orders.stock': { available: 0 },
    'refunds.record_refund': { number: 1 },
  };
  const { calls } = play('Order 1042 is broken', ['replacement', 'refund'], results);
  expect(calls.filter((name) => name === 'ask_participant')).toHaveLength(2);
  expect(calls).toContain('refunds.record_refund');
});

it('ends at once without an order', () => {
  expect(play('Hello', [], {}).text).toContain('number of your order');
  expect(play('Order 9999 is broken', [], {}).text).toContain('no order 9999');
});
