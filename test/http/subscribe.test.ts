import { expect, test } from 'vitest';
import { METADATA } from '../../src/core/extensions/index.ts';
import { reply, type ScriptedReply } from '../../src/testing/index.ts';
import { collect, outline, sdkClient } from '../support/client.ts';
import { startTestHarness } from '../support/harness.ts';
import {
  brief,
  briefs,
  inState,
  openStream,
  type RawEvent,
  type RawOptions,
  rpc,
  say,
  seen,
  snapshotOf,
  taskFor,
  taskOf,
} from './raw.ts';

const alice = { participant: 'alice' };
const bob = { participant: 'bob' };

/** A model that answers each request once the test lets it. */
function gated(...replies: readonly ScriptedReply[]) {
  const gates = replies.map(() => ({
    asked: Promise.withResolvers<void>(),
    go: Promise.withResolvers<void>(),
  }));
  const script = async (_request: unknown, number: number) => {
    const gate = gates[number - 1];
    gate?.asked.resolve();
    await gate?.go.promise;
    return replies[number - 1] ?? reply('?');
  };
  return { script, gates };
}

function subscribe(url: string, id: unknown, options: RawOptions, after?: number) {
  const headers = after === undefined ? {} : { 'last-event-id': String(after) };
  return openStream(url, 'SubscribeToTask', { id }, { ...options, headers });
}

function durable(events: readonly RawEvent[]): RawEvent[] {
  return events.filter(({ id, result }) => id !== undefined && result?.task === undefined);
}

test('who comes late gets the task as it is, then the rest', async () => {
  const { script, gates } = gated(reply('A reply of several pieces.', { chunkSize: 8 }));
  const { url } = await startTestHarness(script);
  const first = await openStream(url, 'SendStreamingMessage', say('Hi'), alice);
  await gates[0]?.asked.promise;
  const { id } = snapshotOf(await first.until(inState('SUBMITTED')));
  const late = await subscribe(url, id, alice);
  const opening = await late.until(() => true);
  gates[0]?.go.resolve();
  expect(opening.map(brief)).toEqual(['task:WORKING']);
  const rest = await late.until(inState('INPUT_REQUIRED'));
  expect(briefs(rest)).toEqual(['artifact:=', 'artifact:+', 'artifact:!', 'status:INPUT_REQUIRED']);
  late.drop();
});

test('a subscription goes on over exchanges, until the task ends', async () => {
  const { url } = await startTestHarness([reply('One.'), reply('Two.')]);
  const { id } = taskOf(await rpc(url, 'SendMessage', say('a'), alice));
  const client = await sdkClient(url, 'alice');
  const following = collect(client.sdk.resubscribeTask({ id: String(id), tenant: '' }));
  const raw = await subscribe(url, id, alice);
  await raw.until(inState('INPUT_REQUIRED'));
  await rpc(url, 'SendMessage', say('b', { taskId: id }), alice);
  await rpc(url, 'CancelTask', { id }, alice);
  const events = await raw.rest();
  expect(events.map(brief)).toEqual([
    'status:WORKING',
    'artifact:=',
    'artifact:!',
    'status:INPUT_REQUIRED',
    'status:CANCELED',
  ]);
  expect(outline(await following).at(-1)).toBe('status:CANCELED');
});

test('everybody sees the durable events in one order, under one id each', async () => {
  const { url } = await startTestHarness((_request, number) => reply(`Reply ${number}.`));
  const parts = [taskFor({ alice: 'reporter', bob: 'reporter' })];
  const { id } = taskOf(await rpc(url, 'SendMessage', say('', { parts }), alice));
  const streams = await Promise.all([
    subscribe(url, id, alice),
    subscribe(url, id, bob),
    subscribe(url, id, bob, 0),
  ]);
  await Promise.all([
    rpc(url, 'SendMessage', say('from alice', { taskId: id }), alice),
    rpc(url, 'SendMessage', say('from bob', { taskId: id }), bob),
    rpc(url, 'SendMessage', say('more from bob', { taskId: id }), bob),
  ]);
  await rpc(url, 'CancelTask', { id }, alice);
  const [one = [], two = [], all = []] = await Promise.all(streams.map((stream) => stream.rest()));
  expect(durable(one).length).toBeGreaterThan(2);
  expect(durable(two)).toEqual(durable(one));
  expect(durable(all).slice(-durable(one).length)).toEqual(durable(one));
  const ids = durable(all).map((event) => event.id ?? 0);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
});

test('a client that goes away disturbs nobody', async () => {
  const { script, gates } = gated(reply('Hello.'));
  const { url } = await startTestHarness(script);
  const sender = await openStream(url, 'SendStreamingMessage', say('Hi'), alice);
  await gates[0]?.asked.promise;
  const { id } = snapshotOf(await sender.until(inState('WORKING')));
  const [staying, leaving] = await Promise.all([subscribe(url, id, alice), subscribe(url, id, alice)]);
  await leaving.until(() => true);
  leaving.drop();
  sender.drop();
  gates[0]?.go.resolve();
  const events = await staying.until(inState('INPUT_REQUIRED'));
  expect(seen(events.at(-1) as RawEvent).text).toBe('Hello.');
  staying.drop();
});

test('a blocking client that goes away leaves its task at work', async () => {
  const { script, gates } = gated(reply('Hello.'), reply('Still here.'));
  const { url } = await startTestHarness(script);
  const gone = new AbortController();
  const params = say('Hi', { messageId: 'm-1' });
  const sending = fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-participant-id': 'alice' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params }),
    signal: gone.signal,
  });
  await gates[0]?.asked.promise;
  gone.abort();
  await expect(sending).rejects.toThrow();
  gates[0]?.go.resolve();
  const again = taskOf(await rpc(url, 'SendMessage', params, alice));
  expect(again.status).toMatchObject({ message: { parts: [{ text: 'Hello.' }] } });
});

test('a stream resumes after a restart without gap or repeat', async () => {
  const before = await startTestHarness([reply('One.')]);
  const sender = await openStream(before.url, 'SendStreamingMessage', say('a'), alice);
  const first = await sender.rest();
  const { id } = snapshotOf(first);
  const whole = await subscribe(before.url, id, alice, 0);
  const cut = await whole.until(inState('WORKING'));
  whole.drop();
  await before.harness.stop();

  const { url } = await startTestHarness([reply('Two.')], before);
  const resumed = await subscribe(url, id, alice, cut.at(-1)?.id);
  await rpc(url, 'SendMessage', say('b', { taskId: id }), alice);
  await rpc(url, 'CancelTask', { id }, alice);
  const rest = await resumed.rest();
  const everything = await (await subscribe(url, id, alice, 0)).rest();
  expect([...cut, ...durable(rest)]).toEqual(everything);
  expect(everything.map(brief)).toEqual([
    'status:SUBMITTED',
    'status:WORKING',
    'artifact:!',
    'status:INPUT_REQUIRED',
    'status:WORKING',
    'artifact:!',
    'status:INPUT_REQUIRED',
    'status:CANCELED',
  ]);
});

test('streams end when the harness stops', async () => {
  const { url, harness } = await startTestHarness([reply('One.')]);
  const { id } = taskOf(await rpc(url, 'SendMessage', say('a'), alice));
  const stream = await subscribe(url, id, alice);
  await stream.until(() => true);
  await harness.stop();
  expect(await stream.rest()).toEqual([]);
});

test('an event that is resumed says the state it was in, not the one the task is in now', async () => {
  const { url } = await startTestHarness([
    { calls: [{ name: 'ask_participant', arguments: { participant_id: 'alice', question: 'Which?' } }] },
    reply('Thanks.'),
  ]);
  const asked = taskOf(await rpc(url, 'SendMessage', say('a'), alice));
  await rpc(url, 'SendMessage', say('this', { taskId: asked.id }), alice);
  const stream = await subscribe(url, asked.id, alice, 0);
  const events = await stream.until(
    ({ result }) => seen({ id: 1, result, error: undefined }).text === 'Thanks.',
  );
  expect(events.map(seen).map(({ state, text }) => [state, text])).toEqual([
    ['SUBMITTED', ''],
    ['WORKING', ''],
    ['WORKING', 'Which?'],
    ['INPUT_REQUIRED', 'Which?'],
    ['WORKING', ''],
    [undefined, 'Thanks.'],
  ]);
  expect(events.map(seen)[3]?.metadata).toEqual({ [METADATA.status]: { sub_state: 'awaiting-answer' } });
  stream.drop();
});
