import { expect, test } from 'vitest';
import { reply } from '../../src/testing/index.ts';
import { startTestHarness } from '../support/harness.ts';
import { openStream, type RawOptions, type RpcAnswer, rpc, say, taskFor, taskOf } from './raw.ts';

const alice = { participant: 'alice' };

/** Every operation on a task, as somebody. */
function operations(url: string, id: unknown, options: RawOptions): Promise<RpcAnswer[]> {
  return Promise.all([
    rpc(url, 'GetTask', { id }, options),
    rpc(url, 'CancelTask', { id }, options),
    rpc(url, 'SubscribeToTask', { id }, options),
    rpc(url, 'SendMessage', say('Hi', { taskId: id }), options),
    rpc(url, 'SendStreamingMessage', say('Hi', { taskId: id }), options),
  ]);
}

test('a first message from nobody is refused, saying how to name somebody', async () => {
  const { url } = await startTestHarness([]);
  for (const method of ['SendMessage', 'SendStreamingMessage']) {
    const { error } = await rpc(url, method, say('Hi'));
    expect(error).toMatchObject({
      code: -32602,
      data: [
        { reason: 'INVALID_PARAMS' },
        { fieldViolations: [{ field: 'message.metadata.participant_id' }] },
      ],
    });
    expect(error?.message).toContain('x-participant-id');
    expect(error?.message).toContain('server.default_participant');
  }
});

test('a first message may say who it is from; the header of later ones must', async () => {
  const { url } = await startTestHarness([reply('One.'), reply('Two.')]);
  const claim = { metadata: { participant_id: 'alice' } };
  const task = taskOf(await rpc(url, 'SendMessage', say('Hi', claim)));
  const later = await rpc(url, 'SendMessage', say('More', { ...claim, taskId: task.id }));
  expect(later.error?.code).toBe(-32001);
  expect((await rpc(url, 'SendMessage', say('More', { taskId: task.id }), alice)).error).toBeUndefined();
});

test('nobody finds no task, whatever the operation', async () => {
  const { url } = await startTestHarness([reply('One.')]);
  const task = taskOf(await rpc(url, 'SendMessage', say('Hi'), alice));
  for (const { error } of await operations(url, task.id, {})) expect(error?.code).toBe(-32001);
});

test('a header and a claim that name two people are refused', async () => {
  const { url } = await startTestHarness([reply('One.')]);
  const two = await rpc(url, 'SendMessage', say('Hi', { metadata: { participant_id: 'bob' } }), alice);
  expect(two.error).toMatchObject({ code: -32602 });
  expect(two.error?.message).toMatch(/"bob".*"alice"/);
  const one = await rpc(url, 'SendMessage', say('Hi', { metadata: { participant_id: 'alice' } }), alice);
  expect(one.error).toBeUndefined();
});

test('a caller with the id of the agent is told which setting to change', async () => {
  const { url, agentId } = await startTestHarness([reply('One.')]);
  const task = taskOf(await rpc(url, 'SendMessage', say('Hi'), alice));
  const answers = [
    await rpc(url, 'SendMessage', say('Hi', { metadata: { participant_id: agentId } })),
    ...(await operations(url, task.id, { participant: agentId })),
  ];
  for (const { error } of answers) {
    expect(error).toMatchObject({ code: -32602 });
    expect(error?.message).toContain('agent.id');
  }
});

test('a stranger gets the same answer for a task that is there and for one that is not', async () => {
  const { url } = await startTestHarness([reply('One.')]);
  const task = taskOf(await rpc(url, 'SendMessage', say('Hi'), alice));
  const missing = '00000000-0000-8000-8000-000000000000';
  const told = async (id: unknown) =>
    (await operations(url, id, { participant: 'mallory' })).map(({ status, headers, error }) => ({
      status,
      type: headers.get('content-type'),
      error: JSON.stringify(error).replaceAll(String(id), 'ID'),
    }));
  const present = await told(task.id);
  expect(present).toEqual(await told(missing));
  for (const { error } of present) expect(JSON.parse(error)).toMatchObject({ code: -32001 });
});

test('knowing the id of a message does not open its task', async () => {
  const { url } = await startTestHarness([reply('One.'), reply('Two.')]);
  const message = say('Hi', { messageId: 'm-1' });
  const task = taskOf(await rpc(url, 'SendMessage', message, alice));
  const named = { ...(message.message as object), taskId: task.id };
  const other = await rpc(url, 'SendMessage', { message: named }, { participant: 'mallory' });
  expect(other.error?.code).toBe(-32001);
});

test('the default participant is who a caller without a header is', async () => {
  const { url } = await startTestHarness([reply('One.'), reply('Two.'), reply('Three.')], {
    settings: { server: { default_participant: 'dana' } },
  });
  const task = taskOf(await rpc(url, 'SendMessage', say('Hi')));
  const later = await rpc(url, 'SendMessage', say('More', { taskId: task.id }));
  expect(later.error).toBeUndefined();
  expect(taskOf(await rpc(url, 'GetTask', { id: task.id }, { participant: 'dana' })).id).toBe(task.id);
  expect((await rpc(url, 'GetTask', { id: task.id }, alice)).error?.code).toBe(-32001);
  const named = taskOf(await rpc(url, 'SendMessage', say('Hi', { metadata: { participant_id: 'erin' } })));
  expect((await rpc(url, 'GetTask', { id: named.id })).error?.code).toBe(-32001);
});

test('an empty header names nobody', async () => {
  const { url } = await startTestHarness([]);
  const answer = await rpc(url, 'SendMessage', say('Hi'), { headers: { 'x-participant-id': '' } });
  expect(answer.error?.code).toBe(-32602);
});

test('every member reads a task and follows it', async () => {
  const { url } = await startTestHarness([reply('One.')]);
  const parts = [taskFor({ alice: 'reporter', bob: 'reporter', wanda: 'watcher', ada: 'admin' })];
  const task = taskOf(await rpc(url, 'SendMessage', say('', { parts }), alice));
  for (const participant of ['alice', 'bob', 'wanda', 'ada']) {
    expect(taskOf(await rpc(url, 'GetTask', { id: task.id }, { participant })), participant).toEqual(task);
    const stream = await openStream(url, 'SubscribeToTask', { id: task.id }, { participant });
    expect((await stream.until(() => true))[0]?.result?.task, participant).toEqual(task);
    stream.drop();
  }
});
