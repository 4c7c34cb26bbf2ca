import { expect, test } from 'vitest';
import { z } from 'zod';
import { HookChain } from '../../src/core/hooks/index.ts';
import { defineTool } from '../../src/core/tools/index.ts';
import { call, reply, ScriptedLlm, type ScriptedReply } from '../../src/testing/index.ts';
import { rawState } from '../http/raw.ts';
import { startTestHarness } from '../support/harness.ts';
import { byGoal, openApprovals, openQuestions, readIn, spawn, statusText, subTasks, Talk } from './talk.ts';

/** Bob gave the task, Ada approves, Rita only looks on, and an agent is an admin too. */
const crew = {
  alice: 'reporter',
  ada: 'admin',
  rita: 'watcher',
  bot: { role: 'admin', kind: 'agent' },
} as const;

const ASK_FOR_PAY = {
  approvals: { rules: [{ tool: 'app/pay', decision: 'ask' as const, reason: 'It is money.' }] },
};

const pay = (amount: number): ScriptedReply => call('app/pay', { to: 'shop', amount });

/** A harness whose tool `pay` needs an approval and keeps a ledger. */
async function office(
  script: readonly ScriptedReply[] | ConstructorParameters<typeof ScriptedLlm>[0],
  rest: Parameters<typeof startTestHarness>[1] = {},
) {
  const ledger: number[] = [];
  const payTool = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: z.strictObject({ to: z.string(), amount: z.number() }),
    run({ amount }) {
      ledger.push(amount);
      return `paid ${amount}`;
    },
  });
  const llm = new ScriptedLlm(script as never);
  const { settings = ASK_FOR_PAY, ...others } = rest;
  const { url } = await startTestHarness(llm, { tools: [payTool], settings, ...others });
  return { talk: new Talk(url), llm, ledger };
}

test('PC-12: a call that needs approval waits, shown exactly, and runs once it is approved', async () => {
  const { talk, llm, ledger } = await office([pay(120), reply('Paid.')]);
  const task = await talk.open('Pay the shop', crew);
  expect(rawState(task)).toBe('INPUT_REQUIRED');
  const [approval] = openApprovals(task);
  expect(approval).toMatchObject({
    tool: 'app/pay',
    arguments: { to: 'shop', amount: 120 },
    approvers: ['ada'],
    participantId: 'ada',
    options: ['approve', 'deny'],
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(statusText(task)).toContain('{"to":"shop","amount":120}');
  expect(statusText(task)).toContain('It is money.');
  expect(ledger).toEqual([]);

  if (approval) await talk.decide(task.id, 'ada', approval, 'approve');
  const paid = await talk.until(task.id, (now) => statusText(now) === 'Paid.');
  expect(openQuestions(paid)).toEqual([]);
  expect(ledger).toEqual([120]);
  // The result of its call, not a message beside it.
  expect(llm.requests[1]?.input.filter((item) => item.type === 'tool_result')).toMatchObject([
    { isError: false, text: expect.stringContaining('paid 120') },
  ]);
});

test('PC-12: a denial reaches the model as the error of its call, and nothing has run', async () => {
  const { talk, llm, ledger } = await office([pay(120), reply('Then not.')]);
  const task = await talk.open('Pay the shop', crew);
  await talk.say(task.id, 'ada', 'deny');
  await talk.until(task.id, (now) => statusText(now) === 'Then not.');
  expect(ledger).toEqual([]);
  expect(llm.requests[1]?.input.at(-1)).toMatchObject({
    type: 'tool_result',
    isError: true,
    text: expect.stringMatching(/tool\.denied.*ada refused this call/),
  });
});

test('PC-12: "sure, but only 10" is a message like any other; the call goes on waiting', async () => {
  const { talk, llm, ledger } = await office([pay(120), reply('Shall I?'), reply('Paid.')]);
  const task = await talk.open('Pay the shop', crew);
  const said = await talk.say(task.id, 'ada', 'sure, but only 10');
  expect(openApprovals(said)).toHaveLength(1);
  expect(readIn(llm.requests[1])).toContain('sure, but only 10');
  expect(readIn(llm.requests[1])).toContain('waits for an approval');
  expect(ledger).toEqual([]);
  // The same words as an answer to the request itself are no decision either.
  const [approval] = openApprovals(said);
  if (approval) await talk.decide(task.id, 'ada', approval, 'approve');
  await talk.until(task.id, (now) => statusText(now) === 'Paid.');
  expect(ledger).toEqual([120]);
  // Its turn was read before: what came of it comes on its own, as data of the tool.
  expect(readIn(llm.requests[2])).toMatch(
    /\[what came of call call_1_0_0, which waited for approval\]\n[^\n]+\n<untrusted source="tool app\/pay">\npaid 120/,
  );
});

test('PC-12: nobody decides but who was asked: not the reporter, not a watcher, not an agent', async () => {
  const { talk, ledger } = await office([pay(120), reply('Hm.'), reply('Hm.'), reply('Hm.')]);
  const task = await talk.open('Pay the shop', crew);
  const [approval] = openApprovals(task);
  if (approval === undefined) throw new Error('there is no approval');
  expect(statusText(await talk.decide(task.id, 'alice', approval, 'approve'))).toContain('for somebody else');
  expect(statusText(await talk.decide(task.id, 'bot', approval, 'approve'))).toContain(
    'an agent may not approve',
  );
  expect(statusText(await talk.decide(task.id, 'rita', approval, 'approve'))).toContain('watcher');
  // The right word from the wrong person is a message.
  await talk.say(task.id, 'alice', 'approve');
  await talk.say(task.id, 'bot', 'approve');
  expect(openApprovals(await talk.task(task.id))).toHaveLength(1);
  expect(ledger).toEqual([]);
});

test('PC-12: a decision about other arguments, another call, or one that is decided counts for nothing', async () => {
  const { talk, ledger } = await office([pay(120), reply('Paid.'), reply('What?')]);
  const task = await talk.open('Pay the shop', crew);
  const [approval] = openApprovals(task);
  if (approval === undefined) throw new Error('there is no approval');
  const forged = { ...approval, hash: approval.hash.replaceAll(/[0-7]/g, 'f') };
  expect(statusText(await talk.decide(task.id, 'ada', forged, 'approve'))).toContain('other arguments');
  const other = { ...approval, callId: 'call_9_9_9' };
  expect(statusText(await talk.decide(task.id, 'ada', other, 'approve'))).toContain('another call');
  expect(ledger).toEqual([]);
  await talk.decide(task.id, 'ada', approval, 'approve');
  await talk.until(task.id, (now) => statusText(now) === 'Paid.');
  expect(statusText(await talk.decide(task.id, 'ada', approval, 'approve'))).toContain('no call that waits');
  expect(ledger).toEqual([120]);
});

test('PC-12: each call of a batch waits for its own decision, and the batch is read together', async () => {
  const batch = { calls: [pay(1), pay(2)].flatMap(({ calls = [] }) => calls) };
  const { talk, llm, ledger } = await office([batch, reply('Done.')]);
  const task = await talk.open('Pay twice', crew);
  const [one, two] = openApprovals(task);
  if (one === undefined || two === undefined) throw new Error('there are not two approvals');
  // With two open, a bare word is no decision: which one would it be about?
  expect(one.arguments).toEqual({ to: 'shop', amount: 1 });
  const half = await talk.decide(task.id, 'ada', two, 'deny');
  expect(openApprovals(half)).toHaveLength(1);
  expect(llm.requests).toHaveLength(1);
  await talk.say(task.id, 'ada', 'approve');
  await talk.until(task.id, (now) => statusText(now) === 'Done.');
  expect(ledger).toEqual([1]);
  expect(llm.requests[1]?.input.slice(-2)).toMatchObject([{ isError: false }, { isError: true }]);
});

test('PC-12: "remember" decides later calls of the tool in this task, and in no other', async () => {
  const { talk, ledger } = await office([...[pay(1), pay(2), reply('Both.')], ...[pay(3), reply('Never.')]]);
  const task = await talk.open('Pay', crew);
  const [approval] = openApprovals(task);
  if (approval) await talk.decide(task.id, 'ada', approval, 'approve', { remember: true });
  await talk.until(task.id, (now) => statusText(now) === 'Both.');
  expect(ledger).toEqual([1, 2]);
  expect(openApprovals(await talk.open('Pay again', crew))).toHaveLength(1);
});

test('PC-12, PC-14: a deadline denies by default', async () => {
  const settings = { approvals: { ...ASK_FOR_PAY.approvals, deadline: '1s' } };
  const { talk, llm, ledger } = await office([pay(120), reply('Too late.')], { settings });
  const task = await talk.open('Pay', crew);
  expect(openApprovals(task)).toHaveLength(1);
  await talk.until(task.id, (now) => statusText(now) === 'Too late.');
  expect(ledger).toEqual([]);
  expect(llm.requests[1]?.input.at(-1)).toMatchObject({
    isError: true,
    text: expect.stringContaining('in time'),
  });
});

test('PC-12: with nobody who may approve, the call is refused', async () => {
  const { talk, llm, ledger } = await office([pay(120), reply('No.')]);
  const nobody = {
    bot: { role: 'admin', kind: 'agent' },
    alice: { role: 'reporter', kind: 'agent' },
  } as const;
  const task = await talk.open('Pay', nobody);
  expect(statusText(task)).toBe('No.');
  expect(ledger).toEqual([]);
  expect(llm.requests[1]?.input.at(-1)).toMatchObject({
    isError: true,
    text: expect.stringContaining('nobody on this task'),
  });
});

test('PC-12: the hook has the last word, here and where the call runs', async () => {
  const hooks = new HookChain();
  let seen = 0;
  hooks.on('tool.approval.in', (context) => {
    if (context.input.name !== 'app/pay') return;
    seen += 1;
    // Allowed when it is gated, refused where it runs.
    return {
      ...context,
      result: seen === 1 ? { decision: 'allow' } : { decision: 'deny', reason: 'closed' },
    };
  });
  const { talk, llm, ledger } = await office([pay(120), reply('No.')], { hooks, settings: {} });
  expect(statusText(await talk.open('Pay', crew))).toBe('No.');
  expect(seen).toBe(2);
  expect(ledger).toEqual([]);
  expect(llm.requests[1]?.input.at(-1)).toMatchObject({
    isError: true,
    text: expect.stringContaining('closed'),
  });
});

test('PC-12: arguments that change after the approval void it', async () => {
  const hooks = new HookChain();
  hooks.on('tool.invoked.in', (context) => ({
    ...context,
    input: { ...context.input, arguments: { ...context.input.arguments, amount: 9000 } },
  }));
  const { talk, llm, ledger } = await office([pay(120), reply('No.')], { hooks });
  const task = await talk.open('Pay', crew);
  await talk.say(task.id, 'ada', 'approve');
  await talk.until(task.id, (now) => statusText(now) === 'No.');
  expect(ledger).toEqual([]);
  expect(llm.requests[1]?.input.at(-1)).toMatchObject({
    isError: true,
    text: expect.stringContaining('not those that were approved'),
  });
});

test('PC-12: a sub-task meets the same rule; its approval is decided on the task above', async () => {
  const { talk, ledger } = await office(
    byGoal({
      Paint: [spawn('Buy'), reply('On it.'), reply('Painted.')],
      'Goal of Buy': [pay(120), reply('Bought.')],
    }),
  );
  const task = await talk.open('Paint', crew, { single: true });
  const [approval] = openApprovals(task);
  expect(approval).toMatchObject({ tool: 'app/pay', approvers: ['ada'] });
  expect(ledger).toEqual([]);
  if (approval) await talk.decide(task.id, 'ada', approval, 'approve');
  expect(statusText(await talk.ended(task.id))).toBe('Painted.');
  expect(ledger).toEqual([120]);
});

test('PC-12: intrinsics meet the rules too: a denied one, a sub-task that waits, a plan that waits', async () => {
  const settings = {
    approvals: {
      rules: [
        { tool: 'ask_participant', decision: 'deny' as const },
        { tool: 'spawn_subtask', decision: 'ask' as const },
        { tool: 'create_plan', decision: 'ask' as const },
      ],
    },
  };
  const { talk, llm } = await office(
    byGoal({
      Paint: [
        call('ask_participant', { participant_id: 'alice', question: 'Which?' }),
        spawn('Buy'),
        reply('Spawned.'),
        reply('Bought.'),
        call('create_plan', { steps: [{ name: 'Paint', description: 'paint' }] }),
        reply('Planned.'),
      ],
      'Goal of Buy': [reply('Bought it.')],
    }),
    { settings },
  );
  const task = await talk.open('Paint', crew);
  expect(readIn(llm.requests[1])).toMatch(/tool\.denied/);
  expect(openApprovals(task)).toMatchObject([{ tool: 'spawn_subtask' }]);
  expect(subTasks(task)).toEqual([]);
  await talk.say(task.id, 'ada', 'approve');
  const spawned = await talk.until(task.id, (now) => statusText(now) === 'Bought.');
  expect(subTasks(spawned)).toHaveLength(1);
  const planning = await talk.say(task.id, 'alice', 'Make a plan');
  expect(openApprovals(planning)).toMatchObject([{ tool: 'create_plan' }]);
  await talk.say(task.id, 'ada', 'approve');
  const planned = await talk.until(task.id, (now) => statusText(now) === 'Planned.');
  expect(JSON.stringify(planned.metadata)).toContain('"name":"Paint"');
});
