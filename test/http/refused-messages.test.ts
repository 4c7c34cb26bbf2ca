import { expect, test } from 'vitest';
import { HookAbort } from '../../src/core/base/index.ts';
import { HookChain } from '../../src/core/hooks/index.ts';
import { MONITOR_QUERY } from '../../src/service/durable/contract/index.ts';
import { call, reply, ScriptedLlm } from '../../src/testing/index.ts';
import { openQuestions } from '../people/talk.ts';
import { startTestHarness, type TestHarness } from '../support/harness.ts';
import { rowsOf } from '../support/store.ts';
import {
  brief,
  channelPart,
  eventPart,
  type Json,
  openStream,
  rpc,
  say,
  seen,
  statusParts,
  taskFor,
  taskOf,
} from './raw.ts';

const alice = { participant: 'alice' };
const ada = { participant: 'ada' };
const MEMBERS = { alice: 'reporter', bob: 'reporter', ada: 'admin', wanda: 'watcher' };
const ABSENT = '00000000-0000-8000-8000-000000000000';

/** Every refusal that is on record, oldest first. */
function refusals({ folder }: TestHarness): Json[] {
  return rowsOf(folder, 'select task_id, sender, message_id, reason from refusals order by id');
}

/** What Temporal has of a task: where it stands, and how long its history is. */
async function loopOf({ harness }: TestHarness, id: unknown) {
  const handle = harness.client.workflow.getHandle(String(id));
  // Answered after what the workflow had to do before.
  const monitor = await handle.query<object>(MONITOR_QUERY);
  return { ...monitor, historyLength: (await handle.describe()).historyLength };
}

function envelope(payload: Json): Json {
  return { parts: [eventPart({ kind: 'task', payload })] };
}

/** A task of alice's, on which bob is asked "Which colour?". */
async function asked(url: string): Promise<{ readonly task: Json; readonly question: string }> {
  const parts = [{ text: 'Paint' }, taskFor(MEMBERS)];
  const task = taskOf(await rpc(url, 'SendMessage', say('', { parts }), alice));
  return { task, question: openQuestions(task)[0]?.id ?? '' };
}

interface Refused {
  readonly what: string;
  readonly by: string;
  readonly message: Json | ((task: Json, question: string) => Json);
  readonly says: string;
  /** The loop was asked: the message has its row. */
  readonly stored?: true;
}

const channel = (message: Json) => ({ parts: [channelPart({ kind: 'message', text: 'Hi', ...message })] });

const REFUSED: readonly Refused[] = [
  {
    what: 'a message of a watcher',
    by: 'wanda',
    message: { parts: [{ text: 'Me too' }] },
    says: 'a watcher may read this task but not write to it',
  },
  {
    what: 'a channel part of a channel that is not there',
    by: 'alice',
    message: channel({ channel_id: 'none', sender: 'alice' }),
    says: 'you are not on that channel',
  },
  {
    what: 'a field that nobody may change',
    by: 'ada',
    message: envelope({ goal: 'Burn the shed' }),
    says: 'goal of a task cannot be changed by a message',
  },
  {
    what: 'a change of the members by a reporter',
    by: 'alice',
    message: envelope({ participants: [{ id: 'alice', role: 'admin' }] }),
    says: 'a reporter may not change who is on the task; an admin may',
  },
  {
    what: 'a command of a watcher',
    by: 'wanda',
    message: { parts: [{ text: '/model scripted' }] },
    says: 'a watcher may not give /model here',
  },
  {
    what: 'a message that a hook does not let in',
    by: 'alice',
    message: { parts: [{ text: 'the secret' }] },
    says: 'we do not talk about that',
  },
  {
    what: "the answer to somebody else's question",
    by: 'alice',
    message: ({ id }, question) =>
      channel({ channel_id: id, sender: 'alice', kind: 'help_reply', in_reply_to: question }),
    says: 'that question was asked of somebody else',
    stored: true,
  },
];

test('PC-3: what a member may not send is on record, told to its sender alone, and wakes nothing', async () => {
  const hooks = new HookChain();
  hooks.on('request.received.pre', ({ input }) => {
    if (input.text.includes('secret')) throw new HookAbort('we do not talk about that');
  });
  const llm = new ScriptedLlm([
    call('ask_participant', { participant_id: 'bob', question: 'Which colour?' }),
  ]);
  const at = await startTestHarness(llm, { hooks });
  const { task, question } = await asked(at.url);
  const foreign = taskOf(await rpc(at.url, 'GetTask', { id: task.id }, ada));
  const bob = await openStream(at.url, 'SubscribeToTask', { id: task.id }, { participant: 'bob' });

  for (const { what, by, message, says, stored } of REFUSED) {
    const loop = await loopOf(at, task.id);
    const more = typeof message === 'function' ? message(task, question) : message;
    const params = say('', { messageId: what, taskId: task.id, ...more });
    const options = { participant: by };
    for (const attempt of ['the first time', 'again']) {
      const streamed = await openStream(at.url, 'SendStreamingMessage', params, options);
      const [snapshot, update, ...others] = await streamed.rest();
      expect.soft(snapshot?.result?.task, what).toEqual(task);
      expect.soft(seen(update as never), `${what}, ${attempt}`).toMatchObject({
        kind: 'status',
        id: undefined,
        state: 'INPUT_REQUIRED',
        text: says,
        metadata: { 'io.github.madarauchiha-314.tiny-harness/status': { sub_state: 'awaiting-answer' } },
      });
      expect.soft(others, what).toEqual([]);
    }
    const blocking = taskOf(await rpc(at.url, 'SendMessage', params, options));
    expect.soft(statusParts(blocking), what).toEqual([{ text: says }]);
    expect.soft({ ...blocking, status: task.status }, what).toEqual(task);

    const record = { task_id: task.id, sender: by, message_id: what, reason: says };
    const records = refusals(at).filter(({ message_id: id }) => id === what);
    // One with a row is looked up the second time.
    expect.soft(records, what).toEqual(stored ? [record] : [record, record, record]);
    if (!stored) expect.soft(await loopOf(at, task.id), what).toEqual(loop);
    expect.soft(await loopOf(at, task.id), what).toMatchObject({ phase: 'parked', exchange: 1, mailbox: 0 });
  }

  expect(taskOf(await rpc(at.url, 'GetTask', { id: task.id }, alice))).toEqual(foreign);
  expect(llm.requests).toHaveLength(1);
  await rpc(at.url, 'CancelTask', { id: task.id }, alice);
  expect((await bob.rest()).map(brief)).toEqual(['task:INPUT_REQUIRED', 'status:CANCELED']);
});

test("PC-3: a stranger's message is on record whether or not there is such a task, and a nobody's is not", async () => {
  const at = await startTestHarness([call('ask_participant', { participant_id: 'bob', question: 'Which?' })]);
  const { task } = await asked(at.url);
  for (const taskId of [task.id, ABSENT]) {
    const message = say('Hi', { messageId: 'm', taskId });
    for (const options of [{ participant: 'mallory' }, {}]) {
      expect((await rpc(at.url, 'SendMessage', message, options)).error?.code).toBe(-32001);
    }
  }
  expect(refusals(at)).toEqual(
    [task.id, ABSENT].map((task_id) => ({
      task_id,
      sender: 'mallory',
      message_id: 'm',
      reason: 'not on this task',
    })),
  );
});

test('PC-3, PC-10: who is taken off a task, or may only look any more, while a message waits for the loop is told so', async () => {
  const [committing, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const hooks = new HookChain();
  hooks.on('task.state_changed.post', async () => {
    committing.resolve();
    await go.promise;
  });
  const llm = new ScriptedLlm([reply('Hello.'), reply('Hello again.')]);
  const at = await startTestHarness(llm, { hooks });
  const opening = say('', { parts: [{ text: 'Hi' }, taskFor(MEMBERS)] }, { returnImmediately: true });
  const { id } = taskOf(await rpc(at.url, 'SendMessage', opening, alice));
  // The loop takes nothing until the commit that parks the task is done.
  await committing.promise;
  const waiting = ['bob', 'alice', 'ada'].map(async (participant) => {
    const message = say('More', { messageId: `of ${participant}`, taskId: id });
    const stream = await openStream(at.url, 'SendStreamingMessage', message, { participant });
    return (await stream.rest()).map(seen).at(-1)?.text;
  });
  await expect
    .poll(() => inboxOf(at, String(id)))
    .toEqual(expect.arrayContaining(['of ada', 'of alice', 'of bob']));
  const participants = [
    { id: 'ada', role: 'admin' },
    { id: 'alice', role: 'watcher' },
  ];
  await rpc(at.url, 'SendMessage', say('', { taskId: id, ...envelope({ participants }) }), ada);
  go.resolve();

  expect(await Promise.all(waiting)).toEqual([
    'you are not on this task any more',
    'a watcher may not write to this task any more',
    'Hello again.',
  ]);
  expect(refusals(at).map(({ sender, reason }) => [sender, reason])).toEqual(
    expect.arrayContaining([
      ['bob', 'you are not on this task any more'],
      ['alice', 'a watcher may not write to this task any more'],
    ]),
  );
  expect(JSON.stringify(llm.requests[1]?.input)).not.toMatch(/message from (bob|alice)\]\\nMore/);
});

function inboxOf({ folder }: TestHarness, taskId: string): string[] {
  const rows = rowsOf<{ message_id: string }>(
    folder,
    'select message_id from inbox where task_id = ?',
    taskId,
  );
  return rows.map((row) => row.message_id);
}

test('PC-3: nothing of a message is done that is refused', async () => {
  const llm = new ScriptedLlm([
    call('ask_participant', { participant_id: 'bob', question: 'Which colour?' }),
  ]);
  const at = await startTestHarness(llm);
  const { task, question } = await asked(at.url);
  const answer = { channel_id: task.id, sender: 'alice', kind: 'help_reply', in_reply_to: question };
  const parts = [{ text: 'Red' }, channelPart(answer), ...(envelope({ name: 'Hut' }).parts as Json[])];
  const { error } = await rpc(at.url, 'SendMessage', say('', { taskId: task.id, parts }), alice);
  expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('a message each') });
  expect(taskOf(await rpc(at.url, 'GetTask', { id: task.id }, alice))).toEqual(task);
});

test('PC-13: control of a task with open sub-tasks is an error that says so, the second time too', async () => {
  const { url } = await startTestHarness((request) =>
    JSON.stringify(request.input).includes('goal: Buy')
      ? call('ask_participant', { participant_id: 'alice', question: 'Which?' })
      : reply('Hello.'),
  );
  const { id } = taskOf(await rpc(url, 'SendMessage', say('Hi'), alice));
  await rpc(url, 'SendMessage', say('/sub-task Buy paint', { taskId: id }), alice);
  const control = say('', { taskId: id, parts: [eventPart({ kind: 'control', action: 'complete' })] });
  for (const method of ['SendMessage', 'SendStreamingMessage', 'SendMessage']) {
    const { error } = await rpc(url, method, control, alice);
    expect(error).toMatchObject({ code: -32004, message: 'the task has open sub-tasks' });
  }
  expect(taskOf(await rpc(url, 'GetTask', { id }, alice)).status).toMatchObject({
    state: 'TASK_STATE_INPUT_REQUIRED',
  });
});
