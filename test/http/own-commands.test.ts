import { expect, test } from 'vitest';
import { HarnessError, HookAbort } from '../../src/core/base/index.ts';
import { type Command, defineCommand, usageError } from '../../src/core/commands/index.ts';
import { HookChain } from '../../src/core/hooks/index.ts';
import { reply, ScriptedLlm } from '../../src/testing/index.ts';
import { dataOf, subTasks } from '../people/talk.ts';
import { startTestHarness } from '../support/harness.ts';
import { type Json, openStream, rpc, say, seen, statusParts, taskFor, taskOf } from './raw.ts';

const alice = { participant: 'alice' };
const MEMBERS = { alice: 'reporter', ada: 'admin', wanda: 'watcher' };

async function started(options: Parameters<typeof startTestHarness>[1]) {
  const llm = new ScriptedLlm(() => reply('Ok.'));
  const at = await startTestHarness(llm, options);
  const { id } = taskOf(await rpc(at.url, 'SendMessage', say('', { parts: [taskFor(MEMBERS)] }), alice));
  return {
    ...at,
    llm,
    task: async () => taskOf(await rpc(at.url, 'GetTask', { id }, alice)),
    /** What the command was answered with. */
    async answer(text: string, participant = 'alice'): Promise<string | undefined> {
      const stream = await openStream(at.url, 'SendStreamingMessage', say(text, { taskId: id }), {
        participant,
      });
      return (await stream.rest()).map(seen).at(-1)?.text;
    },
    /** What a message was answered with. */
    async said(text: string): Promise<unknown> {
      return statusParts(taskOf(await rpc(at.url, 'SendMessage', say(text, { taskId: id }), alice)))[0]?.text;
    },
  };
}

const weather: Command = defineCommand({
  name: 'weather',
  description: 'The weather somewhere.',
  argumentHint: '<place>',
  needs: 'look',
  run(place, { caller, taskId, agentId, state, data }) {
    if (place === '') throw usageError(weather);
    return { text: [place, caller.id, caller.role, taskId.length, agentId, state, data.name].join(' ') };
  },
});

test('SF-5: a command of one’s own answers, says how it is used, and is given by whom it is for', async () => {
  const rename = defineCommand({
    name: 'rename',
    description: 'Rename the task.',
    argumentHint: '<name>',
    run: (name) => ({
      text: `renamed to ${name}`,
      change: { kind: 'set', name },
      subTask: { name, goal: `Be ${name}` },
    }),
  });
  const { agentId, answer, task, llm, said } = await started({ commands: [weather, rename] });
  expect(await answer('/weather  in Berlin\n')).toBe(
    `in Berlin alice reporter 36 ${agentId} INPUT_REQUIRED Shed`,
  );
  expect(await answer('/weather in Rome', 'wanda')).toContain('in Rome wanda watcher');
  expect(await answer('/weather')).toBe('usage: /weather <place>');
  // Who writes may give a command that says nothing else.
  expect(await answer('/rename Hut', 'wanda')).toBe('a watcher may not give /rename here');
  expect(await answer('/rename Hut')).toBe('renamed to Hut');
  expect(dataOf(await task())).toMatchObject({ name: 'Hut' });
  expect(subTasks(await task())).toHaveLength(1);
  // The built-in ones are there beside them.
  expect(await answer('/status')).toContain('Hut\nINPUT_REQUIRED');
  expect(await said('/climate')).toBe('Ok.');
  expect(llm.requests.length).toBeGreaterThan(1);
});

test('PC-10: a command changes who is on a task for an admin alone', async () => {
  const dismiss = defineCommand({
    name: 'dismiss',
    description: 'Takes everybody but the caller off the task.',
    run: (_, { caller }) => ({ text: 'dismissed', change: { kind: 'set', participants: [caller] } }),
  });
  const promote = defineCommand({
    name: 'promote',
    description: 'Makes the caller an admin.',
    run: (_, { caller }) => ({
      text: 'promoted',
      change: { kind: 'role', participantId: caller.id, role: 'admin' },
    }),
  });
  const { answer, task } = await started({ commands: [dismiss, promote] });
  const before = await task();
  for (const command of ['/dismiss', '/promote']) {
    expect(await answer(command)).toBe('a reporter may not change who is on the task; an admin may');
  }
  expect(dataOf(await task())).toEqual(dataOf(before));
  expect(await answer('/promote', 'ada')).toBe('promoted');
});

test('SF-5: one of one’s own replaces a built-in one; without the built-in ones their names are words', async () => {
  const status = defineCommand({ name: 'status', description: 'Mine.', run: () => ({ text: 'my own' }) });
  const own = await started({ commands: [status] });
  expect(await own.answer('/status')).toBe('my own');
  const bare = await started({ commands: [status], builtinCommands: false });
  expect(await bare.answer('/status')).toBe('my own');
  expect(await bare.said('/cancel')).toBe('Ok.');
  expect(bare.llm.requests).toHaveLength(2);
});

test('HK-2: hooks stand around a command: before it, in its place, after it', async () => {
  const hooks = new HookChain();
  const seenBy: Json[] = [];
  hooks.on('command.invoked.pre', ({ input, scope, result }) => {
    const { entity, participants, agentId } = scope;
    seenBy.push({ input, entity, participants: participants.length, agentId, result });
  });
  hooks.on('command.invoked.pre', (context) => {
    const { input } = context;
    if (input.argument === 'nowhere') throw new HookAbort('there is no weather');
    return { ...context, input: { ...input, argument: input.argument.toUpperCase() } };
  });
  hooks.on('command.invoked.in', (context) =>
    context.input.argument === 'MARS' ? { ...context, result: { text: 'dust' } } : undefined,
  );
  hooks.on('command.invoked.post', (context) => ({
    ...context,
    result: { text: `${context.result?.text ?? ''}!` },
  }));
  const { agentId, answer, llm, task } = await started({ commands: [weather], hooks });
  expect(await answer('/weather in Berlin')).toMatch(/^IN BERLIN alice .*!$/);
  expect(seenBy).toEqual([
    {
      input: { name: 'weather', argument: 'in Berlin', participantId: 'alice' },
      entity: { kind: 'command', id: 'weather', version: null },
      participants: 4,
      agentId,
      result: undefined,
    },
  ]);
  expect(await answer('/weather mars')).toBe('dust!');
  // What a hook has against it is its answer; a built-in one is no different.
  expect(await answer('/weather nowhere')).toBe('there is no weather');
  expect(await answer('/model')).toMatch(/^model: scripted.*!$/s);
  expect(dataOf(await task())).toMatchObject({ model: null });
  expect(llm.requests).toHaveLength(1);
});

test('what a command is against is its answer', async () => {
  const refund = defineCommand({
    name: 'refund',
    description: 'Pays back.',
    run() {
      throw new HarnessError('input.refused', 'there is nothing to pay back');
    },
  });
  const { answer, task } = await started({ commands: [refund] });
  const before = await task();
  expect(await answer('/refund')).toBe('there is nothing to pay back');
  expect((await task()).status).toEqual(before.status);
});
