import { expect, test } from 'vitest';
import { METADATA } from '../../src/core/extensions/index.ts';
import { reply, ScriptedLlm } from '../../src/testing/index.ts';
import { sdkClient } from '../support/client.ts';
import { startTestHarness } from '../support/harness.ts';
import { eventPart, inState, type Json, openStream, rawState, rpc, say, snapshotOf, taskOf } from './raw.ts';

const alice = { participant: 'alice' };
const lead = { participant: 'lead' };

function open(payload: Json, text?: string): Json {
  const envelope = eventPart({ kind: 'task', payload });
  return say('', { messageId: 'm-1', parts: text === undefined ? [envelope] : [{ text }, envelope] });
}

function dataOf(task: Json): Json {
  return (task.metadata as Json)[METADATA.task] as Json;
}

const shed = {
  name: 'Shed',
  goal: 'Paint the shed',
  type: 'chore',
  description: 'The wood is dry.',
  acceptance_criteria: [{ text: 'Two coats' }, { text: 'No drips', met: true }],
  participants: [
    { id: 'bob', kind: 'human', role: 'watcher', display_name: 'Bob' },
    { id: 'ada', kind: 'human', role: 'admin' },
    { id: 'bot', kind: 'agent', role: 'assignee' },
  ],
};

test('a first message without an envelope is its goal, its first line the name, its sender the reporter', async () => {
  const { url, agentId } = await startTestHarness([reply('Ok.')]);
  const text = `Paint the shed\nwith two coats of ${'very '.repeat(20)}blue paint`;
  const task = taskOf(await rpc(url, 'SendMessage', say(text), alice));
  expect(dataOf(task)).toMatchObject({
    name: 'Paint the shed',
    goal: text,
    participants: [
      { id: 'alice', kind: 'human', role: 'reporter', display_name: 'alice' },
      { id: agentId, kind: 'agent', role: 'assignee', display_name: agentId },
    ],
  });
});

test('a task envelope says what the task is and who is on it', async () => {
  const { url, agentId } = await startTestHarness([reply('Ok.')]);
  const task = taskOf(await rpc(url, 'SendMessage', open(shed, 'Please'), alice));
  expect(dataOf(task)).toEqual({
    name: 'Shed',
    goal: 'Paint the shed',
    type: 'chore',
    description: 'The wood is dry.',
    acceptance_criteria: [
      { text: 'Two coats', met: false },
      { text: 'No drips', met: true },
    ],
    participants: [
      { id: 'bob', kind: 'human', role: 'watcher', display_name: 'Bob' },
      { id: 'ada', kind: 'human', role: 'admin', display_name: 'ada' },
      { id: 'bot', kind: 'agent', role: 'assignee', display_name: 'bot' },
      { id: 'alice', kind: 'human', role: 'reporter', display_name: 'alice' },
      { id: agentId, kind: 'agent', role: 'assignee', display_name: agentId },
    ],
    parent_tasks: [],
    sub_tasks: [],
    plan: null,
    lifecycle: 'conversation',
    model: null,
    reasoning_effort: null,
  });
});

test('without text the goal is the instruction, and what the model reads has criteria and description', async () => {
  const llm = new ScriptedLlm([reply('Ok.')]);
  const { url } = await startTestHarness(llm);
  await rpc(url, 'SendMessage', open(shed), alice);
  const [about] = llm.requests[0]?.input ?? [];
  const text = about?.type === 'user' ? about.text : '';
  for (const piece of ['goal: Paint the shed', 'The wood is dry.', '- [ ] Two coats', '- [x] No drips'])
    expect(text).toContain(piece);
  expect(llm.requests[0]?.instructions).toMatch(/bob: watcher.*"Bob"/);
});

test('the snapshot of a first stream has the envelope’s data already', async () => {
  const { url } = await startTestHarness([reply('Ok.')]);
  const stream = await openStream(url, 'SendStreamingMessage', open(shed), alice);
  const task = snapshotOf(await stream.until(inState('SUBMITTED')));
  expect(dataOf(task)).toMatchObject({ name: 'Shed', type: 'chore' });
  await stream.rest();
});

test('what is the server’s own is refused from others, and there is no task', async () => {
  const llm = new ScriptedLlm([reply('Ok.')]);
  const { url } = await startTestHarness(llm);
  for (const [field, value] of Object.entries({
    lifecycle: 'delegated',
    model: 'gpt-x',
    reasoning_effort: 'high',
    parent_tasks: [{ task_id: 'p' }],
    sub_tasks: [{ task_id: 's' }],
    plan: { steps: [] },
  })) {
    const { error } = await rpc(url, 'SendMessage', open({ ...shed, [field]: value }), alice);
    expect.soft(error, field).toMatchObject({ code: -32004, message: expect.stringContaining(field) });
  }
  expect(llm.requests).toHaveLength(0);
  // The id is as good as new: nothing was kept of the refused ones.
  const task = taskOf(await rpc(url, 'SendMessage', open(shed), alice));
  expect(dataOf(task)).toMatchObject({ lifecycle: 'conversation', model: null });
});

test('fields of the server that say nothing are not refused', async () => {
  const { url } = await startTestHarness([reply('Ok.')]);
  const empty = { ...shed, model: null, reasoning_effort: null, plan: null, parent_tasks: [], sub_tasks: [] };
  expect((await rpc(url, 'SendMessage', open(empty), alice)).error).toBeUndefined();
});

test('a delegator may set them, and they take effect', async () => {
  const llm = new ScriptedLlm([reply('Done.')]);
  const { url } = await startTestHarness(llm, { settings: { server: { delegators: ['lead'] } } });
  const set = {
    lifecycle: 'delegated',
    model: 'gpt-x',
    reasoning_effort: 'high',
    parent_tasks: [
      {
        task_id: 'p-1',
        agent: { kind: 'agent', id: 'lead', version: '2' },
        state: 'WORKING',
        sub_state: null,
      },
    ],
    sub_tasks: [{ task_id: 's-1', agent: null, state: 'INPUT_REQUIRED', sub_state: 'awaiting-answer' }],
    plan: {
      steps: [
        {
          id: 'look',
          name: 'Look',
          description: '',
          depends_on: [],
          state: 'pending',
          output: null,
          linked_tasks: [],
        },
      ],
    },
  };
  const task = taskOf(await rpc(url, 'SendMessage', open({ ...shed, ...set }), lead));
  expect(dataOf(task)).toMatchObject(set);
  expect(rawState(task)).toBe('COMPLETED');
  expect(llm.requests[0]).toMatchObject({ model: 'gpt-x', effort: 'high' });
});

test('a later task envelope may not touch what is not open: its sender is told, and the task is as it was', async () => {
  const { url } = await startTestHarness([reply('Ok.')]);
  const task = taskOf(await rpc(url, 'SendMessage', open(shed), alice));
  const parts = [eventPart({ kind: 'task', payload: { name: 'Other', goal: 'Other' } })];
  const refused = taskOf(await rpc(url, 'SendMessage', say('', { taskId: task.id, parts }), alice));
  expect(JSON.stringify(refused.status)).toContain('goal of a task cannot be changed by a message');
  expect(taskOf(await rpc(url, 'GetTask', { id: task.id }, alice))).toEqual(task);
});

test('an envelope is for the harness: the model does not read it, and the official client can send it', async () => {
  const llm = new ScriptedLlm([reply('Ok.')]);
  const { url } = await startTestHarness(llm);
  const client = await sdkClient(url, 'alice');
  const part = eventPart({ kind: 'task', payload: { name: 'Shed', goal: 'Paint' } });
  const task = await client.send({
    text: 'Go',
    parts: [
      {
        content: { $case: 'data', value: part.data },
        mediaType: String(part.mediaType),
        metadata: undefined,
        filename: '',
      },
    ],
  });
  expect(task.metadata?.[METADATA.task]).toMatchObject({ name: 'Shed', goal: 'Paint' });
  const read = llm.requests[0]?.input.at(-1);
  expect(read).toEqual({ type: 'user', text: '[message from alice]\nGo' });
});
