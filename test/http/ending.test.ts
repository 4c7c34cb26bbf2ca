import { expect, test } from 'vitest';
import { reply, ScriptedLlm } from '../../src/testing/index.ts';
import { startTestHarness } from '../support/harness.ts';
import {
  brief,
  eventPart,
  inState,
  type Json,
  openStream,
  rawState,
  rpc,
  say,
  seen,
  snapshotOf,
  statusParts,
  taskFor,
  taskOf,
} from './raw.ts';

const alice = { participant: 'alice' };
const wanda = { participant: 'wanda' };

function complete(taskId?: unknown): Json {
  const parts = [eventPart({ kind: 'control', action: 'complete' })];
  return say('', taskId === undefined ? { parts } : { parts, taskId });
}

/** A task of alice that wanda watches, parked. */
async function openTask(url: string): Promise<Json> {
  const parts = [taskFor({ alice: 'reporter', wanda: 'watcher' })];
  return taskOf(await rpc(url, 'SendMessage', say('', { parts }), alice));
}

/** A harness whose model is called and does not answer by itself. */
async function startBusy() {
  const called = Promise.withResolvers<void>();
  const llm = new ScriptedLlm(() => {
    called.resolve();
    return reply('Too late.', { delayMs: 600_000 });
  });
  const { url } = await startTestHarness(llm);
  const stream = await openStream(url, 'SendStreamingMessage', say('Work'), alice);
  const { id } = snapshotOf(await stream.until(inState('SUBMITTED')));
  await called.promise;
  return { url, id, stream, llm };
}

test('its reporter completes a waiting task, and the task says who did', async () => {
  const { url } = await startTestHarness([reply('Hello.')]);
  const task = await openTask(url);
  const watching = await openStream(url, 'SubscribeToTask', { id: task.id }, wanda);
  const done = taskOf(await rpc(url, 'SendMessage', complete(task.id), alice));
  expect(rawState(done)).toBe('COMPLETED');
  expect(statusParts(done)).toEqual([{ text: 'Completed by alice.' }]);
  expect((await watching.rest()).map(brief)).toEqual(['task:INPUT_REQUIRED', 'status:COMPLETED']);
});

test('a watcher may not complete a task, and nothing may be completed that is not there', async () => {
  const { url } = await startTestHarness([reply('Hello.')]);
  const task = await openTask(url);
  const watcher = await rpc(url, 'SendMessage', complete(task.id), wanda);
  expect(watcher.error).toMatchObject({ code: -32004, message: expect.stringContaining('watcher') });
  const nothing = await rpc(url, 'SendMessage', complete(), alice);
  expect(nothing.error).toMatchObject({ code: -32004, message: expect.stringContaining('taskId') });
  expect(taskOf(await rpc(url, 'GetTask', { id: task.id }, alice))).toEqual(task);
});

test('completing a task cuts the turn that runs', async () => {
  const { url, id, stream } = await startBusy();
  const control = await openStream(url, 'SendStreamingMessage', complete(id), alice);
  expect((await control.rest()).map(brief).at(-1)).toBe('status:COMPLETED');
  const events = await stream.rest();
  expect(seen(events.at(-1) as never)).toMatchObject({ state: 'COMPLETED', text: 'Completed by alice.' });
});

test('an ended task takes no message and cannot be followed', async () => {
  const { url } = await startTestHarness([reply('Hello.')]);
  const { id } = await openTask(url);
  await rpc(url, 'SendMessage', complete(id), alice);
  for (const [method, params] of [
    ['SendMessage', say('More', { taskId: id })],
    ['SendStreamingMessage', say('More', { taskId: id })],
    ['SendMessage', complete(id)],
    ['SubscribeToTask', { id }],
  ] as const) {
    const { error } = await rpc(url, method, params, alice);
    expect(error, method).toMatchObject({ code: -32004, message: expect.stringContaining('COMPLETED') });
  }
});

test('with Last-Event-ID, an ended task shows what was missed, and the stream ends', async () => {
  const { url } = await startTestHarness([reply('Hello.')]);
  const { id } = await openTask(url);
  const watching = await openStream(url, 'SubscribeToTask', { id }, wanda);
  const [snapshot] = await watching.until(() => true);
  await rpc(url, 'SendMessage', complete(id), alice);
  const live = await watching.rest();

  const missed = async (after: number) => {
    const headers = { 'last-event-id': String(after) };
    const stream = await openStream(url, 'SubscribeToTask', { id }, { ...wanda, headers });
    return stream.rest();
  };
  expect(await missed(snapshot?.id ?? 0)).toEqual(live);
  expect(await missed(live.at(-1)?.id ?? 0)).toEqual([]);
  expect((await missed(0)).map(brief)).toEqual([
    'status:SUBMITTED',
    'status:WORKING',
    'artifact:!',
    'status:INPUT_REQUIRED',
    'status:COMPLETED',
  ]);
});

test('a waiting task is canceled, and stays so however often it is asked', async () => {
  const { url } = await startTestHarness([reply('Hello.')]);
  const { id } = await openTask(url);
  const watching = await openStream(url, 'SubscribeToTask', { id }, wanda);
  const canceled = taskOf(await rpc(url, 'CancelTask', { id }, alice));
  expect(rawState(canceled)).toBe('CANCELED');
  expect(statusParts(canceled)).toEqual([{ text: 'Canceled by alice.' }]);
  expect((await watching.rest()).map(brief).at(-1)).toBe('status:CANCELED');
  expect(taskOf(await rpc(url, 'CancelTask', { id }, alice))).toEqual(canceled);
});

test('two cancels at once are one', async () => {
  const { url, id } = await startBusy();
  const answers = await Promise.all([
    rpc(url, 'CancelTask', { id }, alice),
    rpc(url, 'CancelTask', { id }, alice),
  ]);
  const [one, two] = answers.map(taskOf);
  expect(rawState(one as Json)).toBe('CANCELED');
  expect(two).toEqual(one);
});

test('canceling a task stops the model call that runs', async () => {
  const { url, id, stream, llm } = await startBusy();
  const started = performance.now();
  const canceled = taskOf(await rpc(url, 'CancelTask', { id }, alice));
  expect(performance.now() - started).toBeLessThan(5_000);
  expect(rawState(canceled)).toBe('CANCELED');
  expect((await stream.rest()).map(brief)).toEqual(['status:WORKING', 'status:CANCELED']);
  expect(llm.requests).toHaveLength(1);
});

test('a task that is done cannot be canceled', async () => {
  const { url } = await startTestHarness([reply('Done.')]);
  const single = { metadata: { conversation: 'single' } };
  const { id } = taskOf(await rpc(url, 'SendMessage', say('Do it', single), alice));
  expect((await rpc(url, 'CancelTask', { id }, alice)).error).toMatchObject({
    code: -32002,
    data: [{ reason: 'TASK_NOT_CANCELABLE' }],
  });
});

test('a watcher may not cancel', async () => {
  const { url } = await startTestHarness([reply('Hello.')]);
  const task = await openTask(url);
  expect((await rpc(url, 'CancelTask', { id: task.id }, wanda)).error).toMatchObject({
    code: -32004,
    message: expect.stringContaining('watcher'),
  });
  expect(taskOf(await rpc(url, 'GetTask', { id: task.id }, alice))).toEqual(task);
});

test('a blocking send is answered when somebody cancels its task', async () => {
  const { url, id } = await startBusy();
  const waiting = rpc(url, 'SendMessage', say('And this', { taskId: id }), alice);
  await rpc(url, 'CancelTask', { id }, alice);
  const answer = await waiting;
  // The message came before the cancel or after it: joined and ended with its task, or refused for its end.
  if (answer.error) expect(answer.error.code).toBe(-32004);
  else expect(rawState(taskOf(answer))).toBe('CANCELED');
});
