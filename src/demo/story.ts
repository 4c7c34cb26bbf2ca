import { isJsonObject, type JsonObject } from '../core/base/index.ts';
import type { LlmRequest } from '../core/models/index.ts';
import type { ScriptedCall, ScriptedReply } from '../testing/index.ts';
import { type Conversation, type PastCall, readConversation } from './conversation.ts';

export const DEMO_CUSTOMER = 'mara';
export const DEMO_MESSAGE =
  'My order 1042 arrived broken: the shade of the brass desk lamp (LAMP-7) is cracked. What can you do?';
export const DEMO_ANSWER = 'replacement';
/** Another conversation with the same shop. */
export const DEMO_OTHER_MESSAGE = 'Order 1041: one of the two mugs (MUG-2) has no handle.';

const FIND = 'local/orders.find_order';
const STOCK = 'local/orders.stock';
const REFUND = 'local/refunds.record_refund';
const REPLACE = 'local/refunds.record_replacement';

const STEP = {
  find: 'Find the order',
  stock: 'Check the stock',
  agree: 'Agree on a remedy',
  record: 'Record the remedy',
} as const;

const PLAN: JsonObject = {
  steps: [
    { name: STEP.find, description: 'Look up what was ordered and paid.', depends_on: [] },
    { name: STEP.stock, description: 'See whether the item can be sent again.', depends_on: [] },
    { name: STEP.agree, description: 'Ask the customer to choose.', depends_on: [STEP.find, STEP.stock] },
    { name: STEP.record, description: 'Write the choice into the ledger.', depends_on: [STEP.agree] },
  ],
};

/**
 * The shop's model: decides its next answer from the conversation alone, for any order and either remedy. A script for
 * `ScriptedLlm`; its text comes in small pieces, so that one sees it being written.
 */
export function playShop(request: LlmRequest): ScriptedReply {
  return { chunkSize: 5, chunkDelayMs: 20, ...answer(readConversation(request)) };
}

function answer(conversation: Conversation): ScriptedReply {
  const [first] = conversation.said;
  const order = Number(/\b\d{4}\b/.exec(first?.text ?? '')?.[0]);
  if (first === undefined || Number.isNaN(order))
    return { text: 'Please write to me again with the number of your order.' };

  const calls = (name: string) => conversation.calls.filter((call) => call.name === name);
  if (calls('create_plan').length === 0)
    return {
      text: 'I am sorry to hear that. I will look up the order and our stock, and then let you choose.',
      calls: [{ name: 'create_plan', arguments: PLAN }],
    };

  const [found] = calls(FIND);
  const sku = /\b[A-Z]+-\d+\b/.exec(first.text)?.[0];
  if (found === undefined) {
    const find: ScriptedCall = { name: FIND, arguments: { order } };
    return { calls: sku === undefined ? [find] : [find, { name: STOCK, arguments: { sku } }] };
  }
  if (found.result?.isError !== false) return { text: `I have no order ${order} here. Is the number right?` };
  const item = itemOf(found, sku);
  const [stock] = calls(STOCK);
  if (stock === undefined) return { calls: [{ name: STOCK, arguments: { sku: item.sku } }] };

  const pieces = Number(stock.result?.data.available ?? 0);
  if (calls('complete_step').length === 0)
    return {
      calls: [
        done(STEP.find, `Order ${order}: ${item.quantity} x ${item.name}, ${item.price} EUR each`),
        done(STEP.stock, `${pieces} in stock`),
      ],
    };
  return afterLookup(conversation, { order, item, pieces, customer: first.by });
}

interface Case {
  readonly order: number;
  readonly item: Item;
  readonly pieces: number;
  readonly customer: string;
}

function afterLookup(conversation: Conversation, shop: Case): ScriptedReply {
  const { order, item, pieces, customer } = shop;
  const options = pieces > 0 ? ['refund', 'replacement'] : ['refund'];
  const asked = conversation.calls.findLastIndex((call) => call.name === 'ask_participant');
  const said = conversation.said.findLast(({ after }) => asked >= 0 && after > asked);
  const choice = said && choiceIn(said.text, options);
  if (choice === undefined) {
    const question =
      asked >= 0
        ? `Please choose one of these: ${options.join(', ')}.`
        : pieces > 0
          ? `Shall I pay ${item.price} EUR back, or send a new ${item.name}?`
          : `The ${item.name} is sold out. Shall I pay ${item.price} EUR back?`;
    const ask = { participant_id: customer, question, options };
    const text = asked >= 0 ? '' : `Your order is here: ${item.name}, ${item.price} EUR.`;
    return { text, calls: [{ name: 'ask_participant', arguments: ask }] };
  }

  const tool = choice === 'refund' ? REFUND : REPLACE;
  const record = conversation.calls.find((call) => call.name === tool);
  const reason = `${item.name} arrived broken`;
  if (record === undefined) {
    const args =
      choice === 'refund' ? { order, amount: item.price, reason } : { order, sku: item.sku, reason };
    return { text: `A ${choice} it is.`, calls: [{ name: tool, arguments: args }] };
  }
  if (record.result?.isError !== false)
    return { text: 'I could not record that. A colleague will look after it and write to you.' };
  const number = record.result.data.number ?? '?';
  if (conversation.calls.filter((call) => call.name === 'complete_step').length < 4)
    return {
      calls: [
        done(STEP.agree, `${customer} chose the ${choice}`),
        done(STEP.record, `Ledger entry ${number}`),
      ],
    };
  return {
    text:
      choice === 'refund'
        ? `Done: ${item.price} EUR go back to you for order ${order} (ledger entry ${number}). Sorry for the trouble!`
        : `Done: a new ${item.name} is on its way for order ${order} (ledger entry ${number}). Sorry for the trouble!`,
  };
}

function choiceIn(text: string, options: readonly string[]): string | undefined {
  const words = text.toLowerCase();
  return options.find((option) => words.includes(option));
}

function done(step: string, output: string): ScriptedCall {
  return { name: 'complete_step', arguments: { step, output } };
}

interface Item {
  readonly sku: string;
  readonly name: string;
  readonly price: number;
  readonly quantity: number;
}

/** The item of an order that the customer named, else its first. */
function itemOf(call: PastCall, sku: string | undefined): Item {
  const listed = call.result?.data.items;
  const items = (Array.isArray(listed) ? listed : []).filter(isJsonObject);
  const item = items.find((each) => each.sku === sku) ?? items[0] ?? {};
  return {
    sku: String(item.sku ?? sku ?? ''),
    name: String(item.name ?? 'item'),
    price: Number(item.price ?? 0),
    quantity: Number(item.quantity ?? 1),
  };
}
