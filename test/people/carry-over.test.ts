import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/core/tools/index.ts';
import { call, reply, ScriptedLlm } from '../../src/testing/index.ts';
import { rawState } from '../http/raw.ts';
import { startTestHarness } from '../support/harness.ts';
import { ask, byGoal, openApprovals, openQuestions, spawn, statusText, subTasks, Talk } from './talk.ts';

/** How many runs of its workflow a task has had. */
async function runsOf(harness: Awaited<ReturnType<typeof startTestHarness>>['harness'], taskId: unknown) {
  let runs = 0;
  const workflows = harness.client.workflow.list({ query: `WorkflowId = "${String(taskId)}"` });
  for await (const _ of workflows) runs += 1;
  return runs;
}

test('DU-7, crash row "continue-as-new with open questions, children, mailbox": nothing changes for anybody', async () => {
  const paid: number[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ amount: z.number() }),
    run({ amount }) {
      paid.push(amount);
      return `paid ${amount}`;
    },
  });
  const llm = new ScriptedLlm(
    byGoal({
      Paint: [
        spawn('Buy'),
        {
          calls: [ask('alice', 'Colour?'), call('app/pay', { amount: 5 })].flatMap(({ calls = [] }) => calls),
        },
        ...['one', 'two', 'three', 'four', 'Done.'].map((text) => reply(text)),
      ],
      'Goal of Buy': [ask('bob', 'Which shop?'), reply('Bought.')],
    }),
  );
  const { harness, url } = await startTestHarness(llm, {
    tools: [pay],
    settings: {
      // Temporal lets a run wait that follows another within a second; a real bound is far from that.
      context: { history_event_bound: 40 },
      approvals: { rules: [{ tool: 'app/pay', decision: 'ask' }] },
    },
  });
  const talk = new Talk(url);
  const { id } = await talk.open('Paint', { alice: 'reporter', bob: 'reporter', ada: 'admin' });
  await talk.until(id, (task) => openQuestions(task).length === 3);
  // Bob has a question from the sub-task, so Ada talks: her words answer nothing.
  for (const text of ['one', 'two']) {
    const task = await talk.say(id, 'ada', text);
    expect([openQuestions(task).length, openApprovals(task).length]).toEqual([3, 1]);
  }
  expect(await runsOf(harness, id)).toBeGreaterThan(1);

  await talk.say(id, 'bob', 'the big one');
  const [child] = subTasks(await talk.task(id));
  expect(rawState(await talk.ended(child))).toBe('COMPLETED');
  await talk.until(id, (task) => openQuestions(task).length === 2);
  await talk.say(id, 'ada', 'approve');
  await talk.say(id, 'alice', 'red');
  const done = await talk.until(id, (task) => openQuestions(task).length === 0);
  expect(paid).toEqual([5]);
  expect(statusText(done)).not.toBe('');
});

test('DU-7: an exchange with many turns is carried over between two of them', async () => {
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    input: z.object({ at: z.number() }),
    annotations: { readOnlyHint: true },
    run: ({ at }) => `saw ${at}`,
  });
  const turns = Array.from({ length: 12 }, (_, at) => call('app/look', { at }));
  const { harness, url } = await startTestHarness([...turns, reply('Seen.')], {
    tools: [look],
    settings: { context: { history_event_bound: 40 } },
  });
  const talk = new Talk(url);
  const task = await talk.open('Look', { alice: 'reporter' }, { single: true });
  expect([rawState(task), statusText(task)]).toEqual(['COMPLETED', 'Seen.']);
  expect(await runsOf(harness, task.id)).toBeGreaterThan(1);
});
