import type { JsonObject, LlmRequest } from 'tiny-harness';
import { call, reply, type ScriptedCall, type ScriptedReply } from 'tiny-harness/testing';

const GIVE_CREDIT = 'local/credits.give_credit';
const FIND_OUT = 'Find out what she wants';
const MAKE_GOOD = 'Make it good';

/** The model of the support agent: decides from the conversation it is shown, as a real one would. */
export function support(request: LlmRequest): ScriptedReply {
  const { calls, lastSaid } = read(request);
  const isDone = (step: string) =>
    calls.some(({ name, args }) => name === 'complete_step' && args.step === step);

  if (!calls.some(({ name }) => name === 'create_plan')) return makePlan();
  if (!calls.some(({ name }) => name === 'ask_participant')) return askAda();
  if (!isDone(FIND_OUT)) return { calls: [complete(FIND_OUT, 'A credit.'), giveCredit(25)] };
  const [, only] = /^\[message from bob\].*only (\d+)/s.exec(lastSaid) ?? [];
  if (only !== undefined && !calls.some(({ args }) => args.amount === Number(only)))
    return { calls: [giveCredit(Number(only))] };
  if (!isDone(MAKE_GOOD)) return { calls: [complete(MAKE_GOOD, '10 EUR, as Bob approved.')] };
  return lastSaid.includes('bob refused this call')
    ? reply('I am sorry for the outage. 10 EUR are credited to order 2207.')
    : reply('10 EUR are credited. I have also asked for 25 EUR, and Bob has not decided about that yet.');
}

function makePlan(): ScriptedReply {
  const steps = [
    { name: FIND_OUT, description: 'A credit, or a longer contract?', depends_on: [] },
    { name: MAKE_GOOD, description: 'Give it.', depends_on: [FIND_OUT] },
  ];
  return call('create_plan', { steps }, { text: 'I am sorry about that. Let me see what I can do.' });
}

function askAda(): ScriptedReply {
  return call('ask_participant', {
    participant_id: 'ada',
    question: 'Would you like a credit, or a week more on your contract?',
    options: ['credit', 'longer contract'],
  });
}

function giveCredit(amount: number): ScriptedCall {
  return { name: GIVE_CREDIT, arguments: { order: 2207, amount, reason: 'six hours without service' } };
}

function complete(step: string, output: string): ScriptedCall {
  return { name: 'complete_step', arguments: { step, output } };
}

/** The calls that were made, and what was said last. */
function read({ input }: LlmRequest) {
  const calls = input.flatMap((item) => (item.type === 'assistant' ? item.calls : []));
  const said = input.flatMap((item) => (item.type === 'user' ? [item.text] : []));
  return {
    calls: calls.map(({ name, arguments: args }) => ({ name, args: JSON.parse(args) as JsonObject })),
    lastSaid: said.at(-1) ?? '',
  };
}
