import { expect, test } from 'vitest';
import { z } from 'zod';
import { EXTENSION, METADATA } from '../../src/core/extensions/index.ts';
import { defineTool } from '../../src/core/tools/index.ts';
import { call, reply, type Script } from '../../src/testing/index.ts';
import { startTestHarness } from '../support/harness.ts';
import { type Json, openStream, type RawEvent, rpc, say, seen, snapshotOf, taskOf } from './raw.ts';

/** A plan (task data), a tool (progress), a reply (artifacts). */
const script: Script = [
  call('create_plan', { steps: [{ name: 'Look', description: 'look' }] }),
  call('read_tool_output', { ref: 'none', offset: 0, length: 1 }),
  reply('Looked.'),
];

/** What updates of a stream carry, without those of states: `artifact`, or the keys of their metadata. */
function carried(events: readonly RawEvent[]): string[] {
  return events.map(seen).flatMap(({ kind, metadata, text }) => {
    if (kind === 'artifact') return ['artifact'];
    if (kind !== 'status' || text !== '') return [];
    return Object.keys(metadata ?? {}).map((key) => key.split('/').at(-1) ?? '');
  });
}

async function streamWith(extensions: readonly string[]) {
  const { url } = await startTestHarness(script);
  const options = { participant: 'alice', extensions };
  const stream = await openStream(url, 'SendStreamingMessage', say('Look'), options);
  const events = await stream.rest();
  const { id } = snapshotOf(events);
  const task = taskOf(await rpc(url, 'GetTask', { id }, options));
  return { stream, events, task, url };
}

test('a client that activates nothing gets states, messages and artifacts', async () => {
  const { stream, events, task } = await streamWith([]);
  expect(stream.response.headers.get('a2a-extensions')).toBeNull();
  expect(carried(events)).toEqual(['artifact', 'artifact']);
  expect(task.artifacts).toMatchObject([{ artifactId: 'response:1', parts: [{ text: 'Looked.' }] }]);
  expect(events.map(seen).at(-1)).toMatchObject({ state: 'INPUT_REQUIRED', text: 'Looked.' });
});

test('the task extension shows changes of the task, and the reply as its status text alone', async () => {
  const { stream, events, task } = await streamWith([EXTENSION.task]);
  expect(stream.response.headers.get('a2a-extensions')).toBe(EXTENSION.task);
  expect(carried(events)).toEqual(['task']);
  expect(task.artifacts ?? []).toEqual([]);
  expect(events.map(seen).at(-1)).toMatchObject({ state: 'INPUT_REQUIRED', text: 'Looked.' });
});

test('a change of the task is the whole task data, with the state unchanged', async () => {
  const { events } = await streamWith([EXTENSION.task]);
  const change = events
    .map(seen)
    .find(({ kind, metadata }) => kind === 'status' && metadata?.[METADATA.task]);
  expect(change?.state).toBe('WORKING');
  expect(change?.metadata?.[METADATA.task]).toEqual({
    name: 'Look',
    goal: 'Look',
    type: null,
    description: '',
    acceptance_criteria: [],
    participants: expect.any(Array),
    parent_tasks: [],
    sub_tasks: [],
    plan: {
      steps: [
        {
          id: 'look',
          name: 'Look',
          description: 'look',
          depends_on: [],
          state: 'pending',
          output: null,
          linked_tasks: [],
        },
      ],
    },
    lifecycle: 'conversation',
    model: null,
    reasoning_effort: null,
  });
});

test('the progress extension shows text as it is written, also to who activates the task extension', async () => {
  const { stream, events } = await streamWith([EXTENSION.task, EXTENSION.progress]);
  expect(stream.response.headers.get('a2a-extensions')).toBe(`${EXTENSION.task},${EXTENSION.progress}`);
  expect(carried(events)).toEqual([...['progress', 'task', 'progress', 'progress', 'artifact', 'artifact']]);
});

test('extensions the card does not list are ignored, and not echoed', async () => {
  const { stream, events } = await streamWith(['https://example.com/unknown/v1', EXTENSION.status]);
  expect(stream.response.headers.get('a2a-extensions')).toBe(EXTENSION.status);
  expect(events.map(seen).at(-1)?.metadata).toEqual({
    [METADATA.status]: { sub_state: 'awaiting-next-message' },
  });
});

test('every extension of the card is echoed to who activates it', async () => {
  const { stream } = await streamWith(Object.values(EXTENSION));
  expect(stream.response.headers.get('a2a-extensions')).toBe(Object.values(EXTENSION).join(','));
});

test('a blocking send echoes what it activated, and a task carries its data whoever reads it', async () => {
  const { url } = await startTestHarness([reply('Hi.')]);
  const answer = await rpc(url, 'SendMessage', say('Hi'), {
    participant: 'alice',
    extensions: [EXTENSION.channel],
  });
  expect(answer.headers.get('a2a-extensions')).toBe(EXTENSION.channel);
  const { metadata } = taskOf(answer) as { metadata: Json };
  expect(metadata[METADATA.task]).toMatchObject({ name: 'Hi', goal: 'Hi', lifecycle: 'conversation' });
  expect(metadata[METADATA.status]).toEqual({ sub_state: 'awaiting-next-message' });
});

test('SF-6: turns, tools and what a task waits for are shown to who asked for progress', async () => {
  const look = defineTool({ name: 'look', description: '', input: z.object({}), run: () => 'nothing' });
  const { url } = await startTestHarness(
    [call('app/look'), reply('Looked.'), call('app/look'), reply('Again.')],
    {
      tools: [look],
    },
  );
  const show = async (extensions: readonly string[]) => {
    const stream = await openStream(url, 'SendStreamingMessage', say('Look'), {
      participant: 'alice',
      extensions,
    });
    return (await stream.rest()).map(seen).flatMap(({ metadata }) => {
      const progress = metadata?.[METADATA.progress] as { phase?: string; activity?: string } | undefined;
      return progress ? [`${progress.phase} ${progress.activity}`] : [];
    });
  };
  expect(await show([])).toEqual([]);
  expect(await show([EXTENSION.progress])).toEqual([
    'model null',
    'tool_started app/look',
    'tool_finished app/look',
    'model null',
    'waiting awaiting-next-message',
  ]);
});
