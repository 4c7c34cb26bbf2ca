import { expect, test } from 'vitest';
import { HookAbort } from '../../src/core/base/index.ts';
import { defineCommand } from '../../src/core/commands/index.ts';
import { HookChain } from '../../src/core/hooks/index.ts';
import { reply, ScriptedLlm } from '../../src/testing/index.ts';
import { eventPart, type Json, rawState } from '../http/raw.ts';
import { startTestHarness } from '../support/harness.ts';
import { ask, byGoal, openQuestions, spawn, statusText, Talk } from './talk.ts';

const lastWords = (task: Json): string =>
  JSON.stringify((task.history as Json[]).at(-1)?.parts).replaceAll('\\', '');

test('SF-5: a command that fails says so to its sender, and the next one runs', async () => {
  const boom = defineCommand({
    name: 'boom',
    description: 'Fails.',
    run() {
      throw new TypeError('nothing there');
    },
  });
  const hooks = new HookChain();
  hooks.on('task.created.pre', ({ input }) => {
    if (input.goal === 'Buy') throw new HookAbort('no buying');
  });
  const { url } = await startTestHarness([reply('Hello.')], { commands: [boom], hooks });
  const talk = new Talk(url);
  const { id } = await talk.open('Hello', { alice: 'reporter' });
  expect(lastWords(await talk.say(id, 'alice', '/boom'))).toContain('/boom failed: nothing there');
  expect(lastWords(await talk.say(id, 'alice', '/sub-task Buy'))).toContain('no buying');
  expect(lastWords(await talk.say(id, 'alice', '/status'))).toContain('INPUT_REQUIRED');
});

test('ST-3: somebody who came onto the task later answers the question of a sub-task that was there before', async () => {
  const llm = new ScriptedLlm(
    byGoal({
      Paint: [spawn('Buy'), reply('On it.'), reply('Painted.')],
      'Goal of Buy': [ask('alice', 'Which?'), reply('Bought.')],
    }),
  );
  const talk = new Talk((await startTestHarness(llm)).url);
  const { id } = await talk.open('Paint', { alice: 'reporter', ada: 'admin' }, { single: true });
  const [question] = openQuestions(await talk.task(id));
  const participants = [
    { id: 'alice', role: 'reporter' },
    { id: 'ada', role: 'admin' },
    { id: 'nina', role: 'admin' },
  ];
  await talk.say(id, 'ada', '', { parts: [eventPart({ kind: 'task', payload: { participants } })] });
  await talk.answer(id, 'nina', question?.id ?? '', 'blue');
  const done = await talk.ended(id);
  expect([rawState(done), statusText(done)]).toEqual(['COMPLETED', 'Painted.']);
});
