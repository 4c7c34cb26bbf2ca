import { expect, test } from 'vitest';
import { METADATA } from '../../src/core/extensions/index.ts';
import { call, reply } from '../../src/testing/index.ts';
import { collect, messageText, outline, sdkClient, stateOf } from '../support/client.ts';
import { startTestHarness } from '../support/harness.ts';
import { brief, briefs, type Json, openStream, rawState, rpc, say, seen, taskOf } from './raw.ts';

const TEXT = 'Hello there, how can I help you today?';

test('a first message streams its task, its text as it is written, the whole text, and its end', async () => {
  const { url } = await startTestHarness([reply(TEXT, { chunkSize: 16 })]);
  const params = say('Hi', { messageId: 'm-1' });
  const stream = await openStream(url, 'SendStreamingMessage', params, { participant: 'alice' });
  expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
  const events = await stream.rest();

  expect(briefs(events)).toEqual([
    'task:SUBMITTED',
    'status:WORKING',
    'artifact:=',
    'artifact:+',
    'artifact:!',
    'status:INPUT_REQUIRED',
  ]);
  const task = events[0]?.result?.task as Json;
  expect(task.history).toMatchObject([{ messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'Hi' }] }]);

  const texts = events.map((event) => seen(event).text);
  expect(texts.slice(2, -2).join('')).toBe(TEXT);
  expect(texts.slice(-2)).toEqual([TEXT, TEXT]);
  const artifacts = events.slice(2, -1).map(({ result }) => result?.artifactUpdate as { artifact: Json });
  expect(new Set(artifacts.map(({ artifact }) => artifact.artifactId))).toEqual(new Set(['response:1']));
  expect(events.at(-1)?.result?.statusUpdate).toMatchObject({
    taskId: task.id,
    contextId: task.contextId,
    status: { message: { role: 'ROLE_AGENT', messageId: `${task.id}:status:5`, taskId: task.id } },
    metadata: { [METADATA.status]: { sub_state: 'awaiting-next-message' } },
  });
});

test('the id of an event is its sequence, and text on its way has none', async () => {
  const { url } = await startTestHarness([reply(TEXT, { chunkSize: 16 })]);
  const stream = await openStream(url, 'SendStreamingMessage', say('Hi'), { participant: 'alice' });
  const events = await stream.rest();
  const ids = events.map(({ id }) => id);
  expect(ids.filter((id) => id !== undefined)).toEqual([2, 3, 4, 5]);
  const pieces = events.filter((event) => /artifact:[=+]/.test(brief(event)));
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.map(({ id }) => id)).toEqual(pieces.map(() => undefined));
});

test('a second message streams an exchange of its own', async () => {
  const { url } = await startTestHarness([reply('One.'), reply('Two.')]);
  const client = await sdkClient(url, 'alice');
  const { id } = await client.send({ text: 'first' });
  const events = await collect(client.stream({ text: 'second', taskId: id }));
  expect(outline(events)).toEqual([
    'task:INPUT_REQUIRED',
    'status:WORKING',
    'artifact:response:2',
    'artifact:response:2',
    'status:INPUT_REQUIRED',
  ]);
});

test('a single conversation is completed by its reply', async () => {
  const { url } = await startTestHarness([reply('Done.')]);
  const client = await sdkClient(url, 'alice');
  const events = await collect(client.stream({ text: 'Do it', metadata: { conversation: 'single' } }));
  const last = events.at(-1)?.payload;
  expect(outline(events).at(-1)).toBe('status:COMPLETED');
  expect(last?.$case === 'statusUpdate' && messageText(last.value.status?.message)).toBe('Done.');
  expect(last?.$case === 'statusUpdate' && last.value.metadata).toBeUndefined();
});

test('an agent of single conversations completes without being asked to', async () => {
  const { url } = await startTestHarness([reply('Done.')], {
    settings: { agent: { conversation: 'single' } },
  });
  const client = await sdkClient(url, 'alice');
  expect(stateOf(await client.send({ text: 'Do it' }))).toBe('COMPLETED');
});

test('text beside calls is said in the stream with the state unchanged, and keeps its id in the history', async () => {
  const { url } = await startTestHarness([
    call('create_plan', { steps: [{ name: 'Look', description: 'look' }] }, { text: 'I make a plan.' }),
    reply('Planned.'),
  ]);
  const stream = await openStream(url, 'SendStreamingMessage', say('Plan'), { participant: 'alice' });
  const events = (await stream.rest()).map(seen);
  const note = events.find(({ text, kind }) => kind === 'status' && text === 'I make a plan.');
  const id = taskOf(
    await rpc(url, 'GetTask', { id: note?.messageId?.split(':')[0] }, { participant: 'alice' }),
  );
  expect(note).toMatchObject({ state: 'WORKING', messageId: `${id.id}:note:${note?.id}` });
  expect((id.history as Json[]).map((message) => message.messageId)).toContain(note?.messageId);
  expect(rawState(id)).toBe('INPUT_REQUIRED');
});

test('status times never run backwards', async () => {
  const { url } = await startTestHarness([reply(TEXT), reply('More.')]);
  const client = await sdkClient(url, 'alice');
  const { id } = await client.send({ text: 'first' });
  await client.send({ text: 'second', taskId: id });
  const stream = await openStream(url, 'SendStreamingMessage', say('x', { taskId: id }), {
    participant: 'alice',
    headers: { 'last-event-id': '1' },
  });
  const times = (await stream.rest()).flatMap(({ result }) => {
    const update = (result?.statusUpdate ?? result?.task) as { status?: { timestamp?: string } } | undefined;
    return update?.status?.timestamp ?? [];
  });
  expect(times.length).toBeGreaterThan(1);
  expect(times).toEqual([...times].sort());
});
