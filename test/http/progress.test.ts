import { expect, test } from 'vitest';
import { z } from 'zod';
import { EXTENSION, METADATA } from '../../src/core/extensions/index.ts';
import { defineTool } from '../../src/core/tools/index.ts';
import { call, reply, ScriptedLlm, type ScriptedReply } from '../../src/testing/index.ts';
import { openQuestions } from '../people/talk.ts';
import { startTestHarness } from '../support/harness.ts';
import {
  eventPart,
  type Json,
  openStream,
  type RawEvent,
  rpc,
  say,
  seen,
  snapshotOf,
  taskFor,
  taskOf,
} from './raw.ts';

const alice = { participant: 'alice' };
const bob = { participant: 'bob' };
const MEMBERS = { alice: 'reporter', bob: 'reporter' };

const look = defineTool({ name: 'look', description: '', input: z.object({}), run: () => 'nothing' });

/** 10 tokens a request. */
const cheap = (scripted: ScriptedReply): ScriptedReply => ({ ...scripted, usage: { input: 6, output: 4 } });
const ask = cheap(call('ask_participant', { participant_id: 'alice', question: 'Which?' }));

const open = say('', { parts: [{ text: 'Paint' }, taskFor(MEMBERS)] });

/** What each update of a stream says under a key of its metadata. */
function under(key: string, events: readonly RawEvent[]): unknown[] {
  return events.map(seen).flatMap(({ kind, metadata }) => (kind === 'status' ? [metadata?.[key]] : []));
}

test('SF-6: why a task waits stands on it and on every update, whatever the update is about', async () => {
  const { url } = await startTestHarness([ask, reply('Blue it is.')]);
  const options = { ...alice, extensions: [EXTENSION.status, EXTENSION.task] };
  const opening = await openStream(url, 'SendStreamingMessage', open, options);
  const events = await opening.rest();
  const waits = { sub_state: 'awaiting-answer' };
  expect(under(METADATA.status, events)).toEqual([undefined, undefined, waits]);
  const { id } = snapshotOf(events);
  const task = async () => taskOf(await rpc(url, 'GetTask', { id }, options)).metadata;
  expect(await task()).toMatchObject({ [METADATA.status]: waits });

  const watched = await openStream(url, 'SubscribeToTask', { id }, options);
  const send = (message: Json) => rpc(url, 'SendMessage', say('', { taskId: id, ...message }), options);
  await send({ parts: [{ text: '/effort low' }] });
  await send({ parts: [eventPart({ kind: 'task', payload: { name: 'Hut' } })] });
  const refused = await openStream(
    url,
    'SendStreamingMessage',
    say('', { taskId: id, parts: [eventPart({ kind: 'task', payload: { goal: 'x' } })] }),
    options,
  );
  expect(under(METADATA.status, await refused.rest())).toEqual([waits]);
  await send({ parts: [{ text: 'blue' }] });
  await rpc(url, 'CancelTask', { id }, alice);

  const next = { sub_state: 'awaiting-next-message' };
  const said = (await watched.rest()).filter(({ result }) => result?.artifactUpdate === undefined);
  expect(said.map(seen).map(({ state, metadata }) => [state, metadata?.[METADATA.status]])).toEqual([
    ['INPUT_REQUIRED', waits],
    // The command's answer, its change, the envelope's.
    ['INPUT_REQUIRED', waits],
    ['INPUT_REQUIRED', waits],
    ['INPUT_REQUIRED', waits],
    ['WORKING', undefined],
    ['INPUT_REQUIRED', next],
    ['CANCELED', undefined],
  ]);
  expect(await task()).not.toHaveProperty(METADATA.status);
});

test('SF-6: progress tells the turn, what is done in it, what is open, and the tokens so far', async () => {
  const used = cheap(call('app/look'));
  const script = [ask, used, used, cheap(reply('Nothing to see.')), cheap(reply('Blue.'))];
  const decideHelp = (proposal: string) => cheap(reply(proposal));
  const { url } = await startTestHarness(new ScriptedLlm(script, { decideHelp }), { tools: [look] });
  const options = { extensions: [EXTENSION.progress] };
  const progress = async (params: Json, who: Json) => {
    const stream = await openStream(url, 'SendStreamingMessage', params, { ...options, ...who });
    return under(METADATA.progress, await stream.rest()).filter((each) => each !== undefined);
  };
  const at = (turn: number, phase: string, activity: string | null, tokens: number, questions: unknown) => ({
    turn,
    phase,
    activity,
    open_questions: questions,
    tokens,
    cost: null,
  });

  const first = await progress(open, alice);
  const { result } = await rpc(url, 'ListTasks', {}, { ...alice, ...options });
  const [task = {}] = (result?.tasks ?? []) as Json[];
  const { id } = task;
  const asked = [openQuestions(task)[0]?.id];
  expect(first).toEqual([at(0, 'model', null, 0, []), at(1, 'waiting', 'awaiting-answer', 20, asked)]);
  expect(task.metadata).toMatchObject({ [METADATA.progress]: first[1] });

  // Bob says something else: alice is still asked.
  const [begun, ...second] = await progress(say('Look', { taskId: id }), bob);
  expect(begun).toMatchObject({ turn: 0, phase: 'model', tokens: 20 });
  expect(second.slice(2)).toEqual([
    at(1, 'model', null, 30, asked),
    at(1, 'tool_started', 'app/look', 30, asked),
    at(1, 'tool_finished', 'app/look', 30, asked),
    at(2, 'model', null, 40, asked),
    at(3, 'waiting', 'awaiting-answer', 50, asked),
  ]);

  const third = await progress(say('blue', { taskId: id }), alice);
  expect(third).toEqual([at(0, 'model', null, 50, []), at(1, 'waiting', 'awaiting-next-message', 60, [])]);

  // Whoever comes back in between is told the same.
  const resumed = await openStream(
    url,
    'SubscribeToTask',
    { id },
    { ...alice, ...options, headers: { 'last-event-id': '1' } },
  );
  await rpc(url, 'CancelTask', { id }, alice);
  const all = under(METADATA.progress, await resumed.rest()).filter((each) => each !== undefined);
  expect(all).toEqual([...first, begun, ...second, ...third, at(1, 'ended', null, 60, [])]);
  expect(taskOf(await rpc(url, 'GetTask', { id }, alice)).metadata).not.toHaveProperty(METADATA.progress);
});
