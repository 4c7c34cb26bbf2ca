import { expect, test } from 'vitest';
import { HookAbort, ProviderError } from '../../src/core/base/index.ts';
import { METADATA } from '../../src/core/extensions/index.ts';
import { HookChain } from '../../src/core/hooks/index.ts';
import { reply, ScriptedLlm } from '../../src/testing/index.ts';
import { startTestHarness } from '../support/harness.ts';
import {
  brief,
  briefs,
  channelParts,
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
const refused = reply('', { error: new ProviderError('the key was refused (401)', { status: 401 }) });

test('a model that fails in the first exchange fails the task, for a reason a person understands', async () => {
  const { url } = await startTestHarness([refused]);
  const stream = await openStream(url, 'SendStreamingMessage', say('Hi'), alice);
  const events = await stream.rest();
  expect(events.map(brief)).toEqual(['task:SUBMITTED', 'status:WORKING', 'status:FAILED']);
  const { text } = seen(events.at(-1) as never);
  expect(text).toBe('The agent could not go on: the key was refused (401) (provider.error)');
  const { id } = snapshotOf(events);
  expect((await rpc(url, 'SendMessage', say('Again', { taskId: id }), alice)).error?.code).toBe(-32004);
});

test('a model that fails later parks an open conversation, and the next message tries again', async () => {
  const llm = new ScriptedLlm([reply('Hello.'), refused, reply('Back again.')]);
  const { url } = await startTestHarness(llm);
  const { id } = taskOf(await rpc(url, 'SendMessage', say('Hi'), alice));
  const stuck = taskOf(await rpc(url, 'SendMessage', say('Go on', { taskId: id }), alice));
  expect(rawState(stuck)).toBe('INPUT_REQUIRED');
  expect(statusParts(stuck)).toEqual([
    { text: 'The agent could not go on: the key was refused (401) (provider.error)' },
  ]);
  expect(stuck.metadata).toMatchObject({ [METADATA.status]: { sub_state: 'awaiting-next-message' } });

  const going = taskOf(await rpc(url, 'SendMessage', say('Please', { taskId: id }), alice));
  expect(statusParts(going)).toEqual([{ text: 'Back again.' }]);
  const said = llm.requests.at(-1)?.input.flatMap((item) => (item.type === 'user' ? [item.text] : []));
  expect(said?.slice(1)).toEqual(['Hi', 'Go on', 'Please'].map((text) => `[message from alice]\n${text}`));
});

test('a question stays open when the model fails on what somebody else wrote', async () => {
  const { url } = await startTestHarness([
    { calls: [{ name: 'ask_participant', arguments: { participant_id: 'bob', question: 'Which?' } }] },
    refused,
    reply('Thanks.'),
  ]);
  const parts = [taskFor({ alice: 'reporter', bob: 'reporter' })];
  const asked = taskOf(await rpc(url, 'SendMessage', say('', { parts }), alice));
  const stuck = taskOf(await rpc(url, 'SendMessage', say('Any news?', { taskId: asked.id }), alice));
  expect(stuck.metadata).toMatchObject({ [METADATA.status]: { sub_state: 'awaiting-answer' } });
  expect(statusParts(stuck)[0]?.text).toContain('The agent could not go on');
  expect(channelParts(statusParts(stuck))).toEqual(channelParts(statusParts(asked)));
  const answer = say('blue', { taskId: asked.id });
  const going = taskOf(await rpc(url, 'SendMessage', answer, { participant: 'bob' }));
  expect(statusParts(going)).toEqual([{ text: 'Thanks.' }]);
});

test('a single conversation fails whenever its model does', async () => {
  const { url } = await startTestHarness([refused]);
  const single = { metadata: { conversation: 'single' } };
  expect(rawState(taskOf(await rpc(url, 'SendMessage', say('Hi', single), alice)))).toBe('FAILED');
});

test('text that a failed attempt began is void: the stream starts over with the next attempt', async () => {
  const { url } = await startTestHarness(
    [reply('Half an ans', { error: new Error('connection reset') }), reply('The whole answer.')],
    { settings: { retries: { default: { initial_interval: 0.01 } } } },
  );
  const stream = await openStream(url, 'SendStreamingMessage', say('Hi'), alice);
  const events = await stream.rest();
  expect(briefs(events)).toEqual([
    'task:SUBMITTED',
    'status:WORKING',
    'artifact:=',
    'artifact:=',
    'artifact:+',
    'artifact:!',
    'status:INPUT_REQUIRED',
  ]);
  const [abandoned, ...pieces] = events.slice(2, -2).map((event) => seen(event).text);
  expect('Half an ans').toContain(abandoned);
  expect(pieces.join('')).toBe('The whole answer.');
});

test('a hook that refuses a message says why, and nothing is stored', async () => {
  const hooks = new HookChain();
  hooks.on('request.received.pre', ({ input }) => {
    if (input.text.includes('secret')) throw new HookAbort('we do not talk about that');
  });
  const { url } = await startTestHarness([reply('Hello.')], { hooks });
  const { error } = await rpc(url, 'SendMessage', say('the secret', { messageId: 'm-1' }), alice);
  expect(error).toMatchObject({ code: -32004, message: 'we do not talk about that' });
  const task = taskOf(await rpc(url, 'SendMessage', say('Hi', { messageId: 'm-1' }), alice));
  expect((task.history as Json[]).length).toBe(2);
});
