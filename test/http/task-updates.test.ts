import { expect, test } from 'vitest';
import { EXTENSION, METADATA } from '../../src/core/extensions/index.ts';
import type { LlmRequest } from '../../src/core/models/index.ts';
import { call, reply, ScriptedLlm } from '../../src/testing/index.ts';
import { dataOf } from '../people/talk.ts';
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
  taskFor,
  taskOf,
} from './raw.ts';

const alice = { participant: 'alice' };
const ada = { participant: 'ada' };
const bob = { participant: 'bob' };
const withData = { ...alice, extensions: [EXTENSION.task] };
const MEMBERS = { alice: 'reporter', ada: 'admin', mia: 'assignee', wanda: 'watcher' };

/** A message that changes a task: an envelope, and words if there are any. */
function update(taskId: unknown, payload: Json, text?: string, more: Json = {}): Json {
  const envelope = eventPart({ kind: 'task', payload });
  return say('', { taskId, parts: text === undefined ? [envelope] : [{ text }, envelope], ...more });
}

async function openTask(url: string, roles: Record<string, string> = MEMBERS): Promise<Json> {
  return taskOf(await rpc(url, 'SendMessage', say('', { parts: [taskFor(roles)] }), alice));
}

/** The task section of what the model read. */
function sectionOf(request: LlmRequest | undefined): string {
  const [first] = request?.input ?? [];
  return first?.type === 'user' ? first.text : '';
}

async function listed(url: string, participant: string): Promise<unknown[]> {
  const { result } = await rpc(url, 'ListTasks', {}, { participant });
  return ((result?.tasks ?? []) as Json[]).map(({ id }) => id);
}

test('PC-10: whoever may write may change name, description and criteria; nobody else may', async () => {
  const { url } = await startTestHarness([reply('Ok.')]);
  const { id } = await openTask(url);
  for (const participant of ['alice', 'ada', 'mia']) {
    const payload = {
      name: `Hut of ${participant}`,
      description: `As ${participant} wants it.`,
      acceptance_criteria: [{ text: participant, met: true }, { text: 'Dry' }],
    };
    const task = taskOf(await rpc(url, 'SendMessage', update(id, payload), { participant }));
    expect(dataOf(task)).toMatchObject({
      ...payload,
      goal: 'Paint the shed',
      acceptance_criteria: [
        { text: participant, met: true },
        { text: 'Dry', met: false },
      ],
    });
  }
  const before = taskOf(await rpc(url, 'GetTask', { id }, alice));
  await rpc(url, 'SendMessage', update(id, { name: 'Wanda was here' }), { participant: 'wanda' });
  expect(taskOf(await rpc(url, 'GetTask', { id }, alice))).toEqual(before);
});

test('an envelope without text wakes nobody: its stream ends with the change, which others see too', async () => {
  const llm = new ScriptedLlm([reply('Ok.'), reply('Painted.')]);
  const { url } = await startTestHarness(llm);
  const before = await openTask(url);
  const { id } = before;
  const plain = await openStream(url, 'SubscribeToTask', { id }, { participant: 'wanda' });
  const informed = await openStream(url, 'SubscribeToTask', { id }, withData);
  await informed.until(() => true);

  const params = update(id, { description: 'Blue.', acceptance_criteria: [{ text: 'Two coats' }] });
  const stream = await openStream(url, 'SendStreamingMessage', params, withData);
  const [snapshot, change, ...others] = await stream.rest();
  expect(snapshot?.result?.task).toMatchObject({ id, status: before.status });
  expect(others).toEqual([]);
  expect(seen(change as never)).toMatchObject({
    kind: 'status',
    state: 'INPUT_REQUIRED',
    messageId: undefined,
    metadata: {
      [METADATA.task]: {
        ...dataOf(before),
        description: 'Blue.',
        acceptance_criteria: [{ text: 'Two coats', met: false }],
      },
      [METADATA.status]: { sub_state: 'awaiting-next-message' },
    },
  });
  expect(await informed.until(() => true)).toEqual([change]);
  const after = taskOf(await rpc(url, 'GetTask', { id }, alice));
  expect([after.status, after.history]).toEqual([before.status, before.history]);
  expect(llm.requests).toHaveLength(1);

  await rpc(url, 'SendMessage', say('Go', { taskId: id }), alice);
  expect(sectionOf(llm.requests[1])).toContain('description: Blue.\nacceptance criteria:\n- [ ] Two coats\n');
  await rpc(url, 'CancelTask', { id }, alice);
  // Who did not ask for the task's data hears nothing of the change.
  expect((await plain.rest()).map(brief)).toEqual([
    'task:INPUT_REQUIRED',
    'status:WORKING',
    'artifact:=',
    'artifact:!',
    'status:INPUT_REQUIRED',
    'status:CANCELED',
  ]);
  informed.drop();
});

test('an envelope with text runs the model, which reads both', async () => {
  const llm = new ScriptedLlm([reply('Ok.'), reply('Blue it is.')]);
  const { url } = await startTestHarness(llm);
  const { id } = await openTask(url);
  const params = update(id, { name: 'Blue shed', description: 'Blue.' }, 'Rather blue');
  const stream = await openStream(url, 'SendStreamingMessage', params, withData);
  const events = (await stream.rest()).map(seen);
  expect(events.map(({ state, metadata }) => [state, (metadata?.[METADATA.task] as Json)?.name])).toEqual([
    ['INPUT_REQUIRED', 'Shed'],
    ['INPUT_REQUIRED', 'Blue shed'],
    ['WORKING', undefined],
    ['INPUT_REQUIRED', undefined],
  ]);
  expect(events.at(-1)?.text).toBe('Blue it is.');
  expect(sectionOf(llm.requests[1])).toContain('name: Blue shed\ngoal: Paint the shed\ndescription: Blue.\n');
  expect(llm.requests[1]?.input.at(-1)).toEqual({ type: 'user', text: '[message from alice]\nRather blue' });
});

test('AS-10: the same envelope again changes nothing, and its stream ends like the first', async () => {
  const [asked, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const llm = new ScriptedLlm(async (_, number) => {
    if (number === 2) asked.resolve();
    if (number === 2) await go.promise;
    return reply(`Reply ${number}.`);
  });
  const { url } = await startTestHarness(llm);
  const { id } = await openTask(url);
  const silent = update(id, { name: 'One' });
  await rpc(url, 'SendMessage', silent, alice);
  await rpc(url, 'SendMessage', update(id, { name: 'Two' }), alice);
  const again = await openStream(url, 'SendStreamingMessage', silent, withData);
  expect((await again.rest()).map(brief)).toEqual(['task:INPUT_REQUIRED']);

  const spoken = update(id, { name: 'Three' }, 'Go on');
  const first = rpc(url, 'SendMessage', spoken, alice);
  await asked.promise;
  await rpc(url, 'SendMessage', update(id, { name: 'Four' }), alice);
  const second = await openStream(url, 'SendStreamingMessage', spoken, withData);
  expect((await second.until(() => true)).map(brief)).toEqual(['task:WORKING']);
  go.resolve();
  expect((await second.rest()).map(seen).at(-1)?.text).toBe('Reply 2.');
  expect(rawState(taskOf(await first))).toBe('INPUT_REQUIRED');
  expect(dataOf(taskOf(await rpc(url, 'GetTask', { id }, alice))).name).toBe('Four');
  expect(llm.requests).toHaveLength(2);
});

test('what turns change and what envelopes change meanwhile are all kept', async () => {
  const turns = [1, 2].map(() => ({
    asked: Promise.withResolvers<void>(),
    go: Promise.withResolvers<void>(),
  }));
  const [first, second] = turns;
  const llm = new ScriptedLlm(async (_, number) => {
    turns[number - 1]?.asked.resolve();
    await turns[number - 1]?.go.promise;
    return number === 1
      ? call('create_plan', { steps: [{ name: 'Buy', description: 'Buy paint.' }] })
      : reply('Planned.');
  });
  const { url } = await startTestHarness(llm);
  const parts = [{ text: 'Plan' }, taskFor(MEMBERS)];
  const stream = await openStream(url, 'SendStreamingMessage', say('', { parts }), withData);
  const { id } = snapshotOf(await stream.until(inState('WORKING')));
  // Before the turn's plan is kept, and after.
  await first?.asked.promise;
  const participants = [
    { id: 'ada', role: 'admin' },
    { id: 'alice', role: 'reporter' },
  ];
  await rpc(url, 'SendMessage', update(id, { name: 'Hut', participants }), ada);
  first?.go.resolve();
  await second?.asked.promise;
  await rpc(url, 'SendMessage', update(id, { description: 'Blue.' }), alice);
  second?.go.resolve();
  await stream.rest();

  const data = dataOf(taskOf(await rpc(url, 'GetTask', { id }, alice)));
  expect(data).toMatchObject({ name: 'Hut', description: 'Blue.', plan: { steps: [{ id: 'buy' }] } });
  expect((data.participants as Json[]).map((each) => each.id).slice(0, 2)).toEqual(['ada', 'alice']);
  expect(sectionOf(llm.requests[1])).toMatch(/name: Hut\n.*- buy \(pending\)/s);
  expect(llm.requests[1]?.instructions).not.toContain('wanda');
});

test('PC-10: an admin says who is on the task: who is added reads and writes, who is removed finds nothing', async () => {
  const llm = new ScriptedLlm(() => reply('Ok.'));
  const { url, agentId } = await startTestHarness(llm);
  const { id } = await openTask(url);
  const get = (participant: string) => rpc(url, 'GetTask', { id }, { participant });
  expect((await get('bob')).error?.code).toBe(-32001);
  const participants = [
    { id: 'ada', role: 'admin' },
    { id: 'bob', role: 'reporter', display_name: 'Bob' },
    { id: 'alice', role: 'watcher' },
  ];
  const changed = taskOf(await rpc(url, 'SendMessage', update(id, { participants }), ada));
  expect((dataOf(changed).participants as Json[]).map((each) => [each.id, each.role])).toEqual([
    ['ada', 'admin'],
    ['bob', 'reporter'],
    ['alice', 'watcher'],
    [agentId, 'assignee'],
  ]);

  expect(taskOf(await get('bob')).id).toBe(id);
  expect(await listed(url, 'bob')).toEqual([id]);
  const said = taskOf(await rpc(url, 'SendMessage', say('Me too', { taskId: id }), bob));
  expect((said.history as Json[]).at(-2)).toMatchObject({ metadata: { participant_id: 'bob' } });
  expect(llm.requests.at(-1)?.instructions).toContain('- bob: reporter, human, "Bob"');

  for (const gone of ['mia', 'wanda']) {
    expect((await get(gone)).error?.code, gone).toBe(-32001);
    expect(await listed(url, gone)).toEqual([]);
    const late = await rpc(url, 'SendMessage', say('Hi', { taskId: id }), { participant: gone });
    expect(late.error?.code, gone).toBe(-32001);
  }
  // One who may only look any more.
  expect(await listed(url, 'alice')).toEqual([id]);
  const told = taskOf(await rpc(url, 'SendMessage', say('Hi', { taskId: id }), alice));
  expect(JSON.stringify(told.status)).toContain('a watcher may read this task but not write to it');
});

test('PC-10: who is removed while they listen or wait hears no more of the task', async () => {
  const [asked, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { url } = await startTestHarness(async (_, number) => {
    if (number === 1) return reply('Ok.');
    asked.resolve();
    await go.promise;
    return reply('The code is 4711.');
  });
  const { id } = await openTask(url, { alice: 'reporter', ada: 'admin', bob: 'reporter' });
  const listening = await openStream(
    url,
    'SubscribeToTask',
    { id },
    { ...bob, extensions: [EXTENSION.task] },
  );
  const from = { ...bob, headers: { 'last-event-id': '1' } };
  const resumed = await openStream(url, 'SubscribeToTask', { id }, from);
  const waiting = rpc(url, 'SendMessage', say('Go', { taskId: id }), bob);
  await asked.promise;
  const sending = await openStream(url, 'SendStreamingMessage', say('And go', { taskId: id }), bob);
  await sending.until(inState('WORKING'));
  const participants = [
    { id: 'ada', role: 'admin' },
    { id: 'alice', role: 'reporter' },
  ];
  await rpc(url, 'SendMessage', update(id, { participants }), ada);

  expect((await listening.rest()).map(brief)).toEqual(['task:INPUT_REQUIRED', 'status:WORKING']);
  expect((await resumed.rest()).map(brief).at(-1)).toBe('status:WORKING');
  expect(await sending.rest()).toEqual([]);
  go.resolve();
  expect((await waiting).error?.code).toBe(-32001);
  // Who comes back reads all of it, the time away included.
  await rpc(
    url,
    'SendMessage',
    update(id, { participants: [...participants, { id: 'bob', role: 'watcher' }] }),
    ada,
  );
  const back = await openStream(url, 'SubscribeToTask', { id }, from);
  await rpc(url, 'CancelTask', { id }, alice);
  expect((await back.rest()).map(brief)).toEqual(expect.arrayContaining(['artifact:!', 'status:CANCELED']));
});

test('PC-10: an admin may leave: the answer is the last that they see', async () => {
  const { url, agentId } = await startTestHarness(() => reply('Ok.'));
  for (const method of ['SendMessage', 'SendStreamingMessage']) {
    const { id } = await openTask(url);
    const leave = update(id, { participants: [{ id: 'alice', role: 'reporter' }] });
    const stream = await openStream(url, method, leave, { ...ada, extensions: [EXTENSION.task] });
    const data = seen((await stream.rest()).at(-1) as never).metadata?.[METADATA.task] as Json;
    expect((data.participants as Json[]).map((each) => each.id)).toEqual(['alice', agentId]);
    expect((await rpc(url, 'GetTask', { id }, ada)).error?.code).toBe(-32001);
  }
});
