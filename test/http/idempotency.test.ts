import { expect, test } from 'vitest';
import { reply, ScriptedLlm } from '../../src/testing/index.ts';
import { startTestHarness } from '../support/harness.ts';
import {
  brief,
  eventPart,
  type Json,
  openStream,
  rawState,
  rpc,
  say,
  seen,
  snapshotOf,
  taskOf,
} from './raw.ts';

const alice = { participant: 'alice' };

test('the same first message again is the same task, and the model is not asked again', async () => {
  const llm = new ScriptedLlm([reply('Hello.')]);
  const { url } = await startTestHarness(llm);
  const message = say('Hi', { messageId: 'm-1' });
  const first = taskOf(await rpc(url, 'SendMessage', message, alice));
  const again = taskOf(await rpc(url, 'SendMessage', message, alice));
  expect(again).toEqual(first);
  expect(llm.requests).toHaveLength(1);
});

test('the same message many times at once is one task with one message', async () => {
  const llm = new ScriptedLlm([reply('Hello.')]);
  const { url } = await startTestHarness(llm);
  const message = say('Hi', { messageId: 'm-1' });
  const answers = await Promise.all(Array.from({ length: 8 }, () => rpc(url, 'SendMessage', message, alice)));
  const tasks = answers.map(taskOf);
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(1);
  expect(tasks.map(rawState)).toEqual(Array.from({ length: 8 }, () => 'INPUT_REQUIRED'));
  expect(((tasks[0]?.history ?? []) as Json[]).map(({ messageId }) => messageId)).toEqual([
    'm-1',
    `${tasks[0]?.id}:status:5`,
  ]);
  expect(llm.requests).toHaveLength(1);
});

test('the same later message again has no second effect', async () => {
  const llm = new ScriptedLlm([reply('One.'), reply('Two.')]);
  const { url } = await startTestHarness(llm);
  const { id } = taskOf(await rpc(url, 'SendMessage', say('a'), alice));
  const message = say('b', { messageId: 'm-2', taskId: id });
  const answers = await Promise.all([1, 2, 3].map(() => rpc(url, 'SendMessage', message, alice)));
  answers.push(await rpc(url, 'SendMessage', message, alice));
  for (const answer of answers) expect((taskOf(answer).history as Json[]).length).toBe(4);
  expect(llm.requests).toHaveLength(2);
});

test('a second stream of a running first message shows the task and ends like the first', async () => {
  const asked = Promise.withResolvers<void>();
  const model = Promise.withResolvers<void>();
  const { url } = await startTestHarness(async () => {
    asked.resolve();
    await model.promise;
    return reply('Hello.');
  });
  const message = say('Hi', { messageId: 'm-1' });
  const first = await openStream(url, 'SendStreamingMessage', message, alice);
  await asked.promise;
  const second = await openStream(url, 'SendStreamingMessage', message, alice);
  const [snapshot] = await second.until(() => true);
  model.resolve();
  const one = await first.rest();
  const two = await second.rest();
  expect(snapshotOf(snapshot ? [snapshot] : []).id).toBe(snapshotOf(one).id);
  expect(two).toEqual(one.slice(-two.length));
  expect(two.map(brief).at(-1)).toBe('status:INPUT_REQUIRED');
});

test('a second stream of a message that was answered shows the task and ends', async () => {
  const { url } = await startTestHarness([reply('Hello.')]);
  const message = say('Hi', { messageId: 'm-1' });
  await rpc(url, 'SendMessage', message, alice);
  const stream = await openStream(url, 'SendStreamingMessage', message, alice);
  expect((await stream.rest()).map(seen)).toMatchObject([
    { kind: 'task', state: 'INPUT_REQUIRED', text: 'Hello.' },
  ]);
});

test('one id with two bodies is an error, before and after the first is answered', async () => {
  const { url } = await startTestHarness([reply('Hello.'), reply('Again.')]);
  const first = taskOf(await rpc(url, 'SendMessage', say('Hi', { messageId: 'm-1' }), alice));
  const reused = { code: -32602, data: [{ reason: 'MESSAGE_ID_REUSED', domain: 'a2a-protocol.org' }] };
  const other = await rpc(url, 'SendMessage', say('Ho', { messageId: 'm-1' }), alice);
  expect(other.error).toMatchObject(reused);
  const later = { messageId: 'm-2', taskId: first.id };
  await rpc(url, 'SendMessage', say('x', later), alice);
  expect((await rpc(url, 'SendMessage', say('y', later), alice)).error).toMatchObject(reused);
  const stream = await openStream(url, 'SendStreamingMessage', say('y', later), alice);
  expect((await stream.rest())[0]?.error).toMatchObject(reused);
});

test('an id is its sender’s own: another participant may use the same', async () => {
  const { url } = await startTestHarness([reply('One.'), reply('Two.')]);
  const message = say('Hi', { messageId: 'm-1' });
  const hers = taskOf(await rpc(url, 'SendMessage', message, alice));
  const his = taskOf(await rpc(url, 'SendMessage', message, { participant: 'bob' }));
  expect(his.id).not.toBe(hers.id);
});

test('after the task has ended, its messages still have their receipt and new ones have none', async () => {
  const { url } = await startTestHarness([reply('Done.')]);
  const message = say('Do it', { messageId: 'm-1', metadata: { conversation: 'single' } });
  const done = taskOf(await rpc(url, 'SendMessage', message, alice));
  expect(rawState(done)).toBe('COMPLETED');
  expect(taskOf(await rpc(url, 'SendMessage', message, alice))).toEqual(done);
  const stream = await openStream(url, 'SendStreamingMessage', message, alice);
  expect((await stream.rest()).map(brief)).toEqual(['task:COMPLETED']);
  const late = await rpc(url, 'SendMessage', say('More', { taskId: done.id }), alice);
  expect(late.error).toMatchObject({ code: -32004 });
});

test('a control message again is the same end', async () => {
  const { url } = await startTestHarness([reply('Hello.')]);
  const { id } = taskOf(await rpc(url, 'SendMessage', say('Hi'), alice));
  const control = say('', { taskId: id, parts: [eventPart({ kind: 'control', action: 'complete' })] });
  const done = taskOf(await rpc(url, 'SendMessage', control, alice));
  expect(rawState(done)).toBe('COMPLETED');
  expect(taskOf(await rpc(url, 'SendMessage', control, alice))).toEqual(done);
});

test('after a restart on the same store, a message known before is the same task', async () => {
  const before = await startTestHarness([reply('Hello.')]);
  const message = say('Hi', { messageId: 'm-1' });
  const task = taskOf(await rpc(before.url, 'SendMessage', message, alice));
  await before.harness.stop();

  const llm = new ScriptedLlm([]);
  const { url } = await startTestHarness(llm, before);
  expect(taskOf(await rpc(url, 'SendMessage', message, alice))).toEqual(task);
  expect((await rpc(url, 'SendMessage', say('Ho', { messageId: 'm-1' }), alice)).error).toMatchObject({
    data: [{ reason: 'MESSAGE_ID_REUSED' }],
  });
  expect(llm.requests).toHaveLength(0);
});

test('without idempotency a client may use one id for every first message, and not for later ones', async () => {
  const llm = new ScriptedLlm([reply('One.'), reply('Two.'), reply('Three.')]);
  const { url } = await startTestHarness(llm, { settings: { server: { idempotency: false } } });
  const message = say('Hi', { messageId: 'same' });
  const one = taskOf(await rpc(url, 'SendMessage', message, alice));
  const two = taskOf(await rpc(url, 'SendMessage', message, alice));
  expect(two.id).not.toBe(one.id);
  const later = say('More', { messageId: 'same', taskId: one.id });
  await rpc(url, 'SendMessage', later, alice);
  await rpc(url, 'SendMessage', later, alice);
  expect(llm.requests).toHaveLength(3);
});
