import type { ModelReply } from '../../src/testing/index.ts';

interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly function: { readonly name: string } }[];
}

/**
 * The agent's mind: what a task is about stands in its first message ("plain o1", "tool o1", "ask o1", "slow o1", "pay o1", "part o1"), and
 * the answer follows from the conversation alone, so that it is the same after every crash.
 */
export function think(body: { readonly messages?: readonly ChatMessage[] }): ModelReply {
  const messages = body.messages ?? [];
  const said = messages
    .filter((message) => message.role === 'user')
    .map((message) => String(message.content));
  const [, kind = '', order = ''] = /^goal: (\w+) (\S+)/m.exec(said.join('\n')) ?? [];
  const called = (name: string) =>
    messages.some((message) => message.tool_calls?.some((call) => call.function.name.includes(name)));
  if (kind === 'slow') return { text: `slow ${order} done`, delayMs: 1500 };
  if ((kind === 'tool' || kind === 'pay') && !called('record')) {
    return {
      calls: [{ name: 'local_ledger_record', arguments: { order: kind === 'pay' ? `pay-${order}` : order } }],
    };
  }
  if (kind === 'ask' && !called('ask_participant')) {
    return {
      calls: [
        { name: 'ask_participant', arguments: { participant_id: 'user', question: `Go on with ${order}?` } },
      ],
    };
  }
  if (kind === 'part' && !called('spawn_subtask')) {
    return { calls: [{ name: 'spawn_subtask', arguments: { name: order, goal: `ask ${order}` } }] };
  }
  return { text: `${kind} ${order} done`, delayMs: 20 };
}
