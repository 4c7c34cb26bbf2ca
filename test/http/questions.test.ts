import { expect, test } from 'vitest';
import { METADATA } from '../../src/core/extensions/index.ts';
import type { LlmRequest } from '../../src/core/models/index.ts';
import { call, reply, ScriptedLlm, type ScriptedReply } from '../../src/testing/index.ts';
import { startTestHarness } from '../support/harness.ts';
import {
  brief,
  channelPart,
  channelParts,
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
const bob = { participant: 'bob' };

function ask(...questions: readonly { to: string; text: string; options?: string[] }[]): ScriptedReply {
  return {
    calls: questions.map(({ to, text, options }) => ({
      name: 'ask_participant',
      arguments: { participant_id: to, question: text, ...(options ? { options } : {}) },
    })),
  };
}

/** Opens a task of alice and bob, both reporters. */
async function openTask(url: string): Promise<Json> {
  const parts = [{ text: 'Paint the shed' }, taskFor({ alice: 'reporter', bob: 'reporter' })];
  return taskOf(await rpc(url, 'SendMessage', say('', { parts }), alice));
}

/** The ids of the questions a task shows as open, by their text. */
function open(task: Json): Record<string, string> {
  return Object.fromEntries(
    channelParts(statusParts(task)).map(({ text, parts }) => [
      String(text),
      (parts as { data: { question_id: string } }[])[0]?.data.question_id ?? '',
    ]),
  );
}

/** What the model read last of what people wrote. */
function lastRead(requests: readonly LlmRequest[]): string {
  const item = requests.at(-1)?.input.findLast((each) => each.type === 'user');
  return item?.type === 'user' ? item.text : '';
}

function helpReply(task: Json, sender: string, inReplyTo: string | undefined, more: Json = {}): Json {
  const message = { channel_id: task.id, sender, kind: 'help_reply', text: '', parts: [], ...more };
  const parts = [channelPart(inReplyTo === undefined ? message : { ...message, in_reply_to: inReplyTo })];
  return say('', { taskId: task.id, parts });
}

test('a question is the status message: its text, its options on a line, and a channel part', async () => {
  const { url, agentId } = await startTestHarness([
    ask({ to: 'alice', text: 'Which colour?', options: ['red', 'blue'] }),
  ]);
  const stream = await openStream(url, 'SendStreamingMessage', say('Paint'), alice);
  const events = await stream.rest();
  expect(events.map(brief)).toEqual([
    'task:SUBMITTED',
    'status:WORKING',
    'status:WORKING',
    'status:INPUT_REQUIRED',
  ]);

  const asked = events.map(seen)[2];
  const id = `${snapshotOf(events).id}:help:${asked?.id}`;
  const last = events.at(-1)?.result?.statusUpdate as Json;
  expect(last.metadata).toEqual({ [METADATA.status]: { sub_state: 'awaiting-answer' } });
  expect((last.status as Json).message).toMatchObject({
    messageId: id,
    parts: [
      { text: 'Which colour?\nOptions: red, blue' },
      {
        mediaType: 'application/vnd.tiny-harness.channel+json',
        data: {
          channel_id: last.taskId,
          sender: agentId,
          kind: 'help_request',
          text: 'Which colour?',
          parts: [
            {
              kind: 'data',
              media_type: 'application/vnd.tiny-harness.question+json',
              data: {
                question_id: id,
                participant_id: 'alice',
                options: ['red', 'blue'],
                expires_at: null,
              },
            },
          ],
        },
      },
    ],
  });
  const [part] = channelParts(statusParts(last));
  expect(Object.keys(part ?? {}).sort()).toEqual(['channel_id', 'kind', 'parts', 'sender', 'text']);
  expect(asked?.messageId).toBe(id);
});

test('a deadline is in the question, as a time', async () => {
  const { url } = await startTestHarness([
    call('ask_participant', { participant_id: 'alice', question: 'Now?', expires_in: 3600 }),
  ]);
  const before = Date.now();
  const task = taskOf(await rpc(url, 'SendMessage', say('x'), alice));
  const [part] = channelParts(statusParts(task));
  const [question] = (part?.parts ?? []) as { data: { expires_at: string } }[];
  expect(Date.parse(question?.data.expires_at ?? '')).toBeGreaterThanOrEqual(before + 3_600_000);
});

test('two questions are open at once, and answered in reverse order by naming them', async () => {
  const llm = new ScriptedLlm([
    ask({ to: 'alice', text: 'Which colour?', options: ['red', 'blue'] }, { to: 'bob', text: 'When?' }),
    reply('Noted, on Monday.'),
    reply('Red, on Monday.'),
  ]);
  const { url } = await startTestHarness(llm);
  const task = await openTask(url);
  expect(statusParts(task)[0]).toEqual({ text: 'Which colour?\nOptions: red, blue\n\nWhen?' });
  const questions = open(task);
  expect(Object.keys(questions)).toEqual(['Which colour?', 'When?']);

  const half = taskOf(
    await rpc(url, 'SendMessage', helpReply(task, 'bob', questions['When?'], { text: 'Monday' }), bob),
  );
  expect(lastRead(llm.requests)).toContain('in answer to the question "When?"]\nMonday');
  expect(rawState(half)).toBe('INPUT_REQUIRED');
  expect(statusParts(half)[0]).toEqual({ text: 'Noted, on Monday.' });
  expect(open(half)).toEqual({ 'Which colour?': questions['Which colour?'] });
  expect(half.metadata).toMatchObject({ [METADATA.status]: { sub_state: 'awaiting-answer' } });

  const done = taskOf(await rpc(url, 'SendMessage', say('red', { taskId: task.id }), alice));
  expect(lastRead(llm.requests)).toContain('in answer to the question "Which colour?"]\nred');
  expect(open(done)).toEqual({});
  expect(done.metadata).toMatchObject({ [METADATA.status]: { sub_state: 'awaiting-next-message' } });
});

test('an answer that names no question answers the oldest one asked of its sender', async () => {
  const llm = new ScriptedLlm([
    ask({ to: 'alice', text: 'First?' }, { to: 'bob', text: 'Second?' }, { to: 'alice', text: 'Third?' }),
    reply('ok'),
    reply('ok'),
    reply('ok'),
  ]);
  const { url } = await startTestHarness(llm);
  const task = await openTask(url);
  const answered: string[] = [];
  for (const who of [bob, alice, alice]) {
    await rpc(url, 'SendMessage', say('yes', { taskId: task.id }), who);
    answered.push(/question "(\w+)\?"/.exec(lastRead(llm.requests))?.[1] ?? 'none');
  }
  expect(answered).toEqual(['Second', 'First', 'Third']);
});

test('what a channel part says, its parts included, reaches the model as the answer', async () => {
  const llm = new ScriptedLlm([ask({ to: 'alice', text: 'Which colour?' }), reply('Thanks.')]);
  const { url } = await startTestHarness(llm);
  const task = await openTask(url);
  const parts = [
    { kind: 'text', text: 'as the door' },
    { kind: 'data', data: { ral: 5010 }, media_type: 'application/json' },
  ];
  const id = open(task)['Which colour?'];
  await rpc(url, 'SendMessage', helpReply(task, 'alice', id, { text: 'blue', parts }), alice);
  expect(lastRead(llm.requests)).toBe(
    '[message from alice in answer to the question "Which colour?"]\nblue\nas the door\n{"ral":5010}',
  );
});

test('a message that answers nothing is worked on, and the question stays open under its id', async () => {
  const llm = new ScriptedLlm([
    ask({ to: 'bob', text: 'Which colour?', options: ['red', 'blue'] }),
    reply('Bob has not said yet.'),
    reply('Blue then.'),
  ]);
  const { url } = await startTestHarness(llm);
  const task = await openTask(url);
  const after = taskOf(await rpc(url, 'SendMessage', say('Any news?', { taskId: task.id }), alice));
  expect(lastRead(llm.requests)).toBe('[message from alice]\nAny news?');
  expect(statusParts(after)[0]).toEqual({ text: 'Bob has not said yet.' });
  expect(channelParts(statusParts(after))).toEqual(channelParts(statusParts(task)));
  expect(after.metadata).toMatchObject({ [METADATA.status]: { sub_state: 'awaiting-answer' } });

  const done = taskOf(await rpc(url, 'SendMessage', say('blue', { taskId: task.id }), bob));
  expect(open(done)).toEqual({});
});

test('an answer to a question that is not open any more is an ordinary message', async () => {
  const llm = new ScriptedLlm([ask({ to: 'alice', text: 'Which colour?' }), reply('Blue.'), reply('Green.')]);
  const { url } = await startTestHarness(llm);
  const task = await openTask(url);
  const id = open(task)['Which colour?'];
  await rpc(url, 'SendMessage', helpReply(task, 'alice', id, { text: 'blue' }), alice);
  await rpc(url, 'SendMessage', helpReply(task, 'alice', id, { text: 'no, green' }), alice);
  expect(lastRead(llm.requests)).toBe('[message from alice]\nno, green');
});

test("the answer to somebody else's question is refused to its sender alone", async () => {
  const { url } = await startTestHarness([ask({ to: 'bob', text: 'Which colour?' }), reply('Blue.')]);
  const task = await openTask(url);
  const watching = await openStream(url, 'SubscribeToTask', { id: task.id }, bob);
  const id = open(task)['Which colour?'];

  const answer = helpReply(task, 'alice', id, { text: 'red' });
  const stream = await openStream(url, 'SendStreamingMessage', answer, alice);
  const [snapshot, refusal, ...more] = (await stream.rest()).map(seen);
  expect(snapshot).toMatchObject({ kind: 'task', state: 'INPUT_REQUIRED', text: 'Which colour?' });
  expect(refusal).toMatchObject({
    kind: 'status',
    id: undefined,
    state: 'INPUT_REQUIRED',
    text: 'that question was asked of somebody else',
    metadata: { [METADATA.status]: { sub_state: 'awaiting-answer' } },
  });
  expect(more).toEqual([]);
  const kept = taskOf(await rpc(url, 'GetTask', { id: task.id }, alice));
  expect(kept).toEqual(task);

  const again = await openStream(url, 'SendStreamingMessage', answer, alice);
  expect((await again.rest()).map(seen)[1]?.text).toBe('that question was asked of somebody else');

  await rpc(url, 'SendMessage', say('blue', { taskId: task.id }), bob);
  const shown = await watching.until(
    ({ result }) => seen({ id: 0, result, error: undefined }).text === 'Blue.',
  );
  expect(shown.map(brief)).toEqual(['task:INPUT_REQUIRED', 'status:WORKING', 'artifact:=']);
  watching.drop();
});

test('a refused blocking send shows why in its answer, and nowhere else', async () => {
  const { url } = await startTestHarness([ask({ to: 'bob', text: 'Which colour?' })]);
  const task = await openTask(url);
  const id = open(task)['Which colour?'];
  const refused = taskOf(await rpc(url, 'SendMessage', helpReply(task, 'alice', id, { text: 'red' }), alice));
  expect(rawState(refused)).toBe('INPUT_REQUIRED');
  expect(statusParts(refused)).toEqual([{ text: 'that question was asked of somebody else' }]);
  expect(refused.history).toEqual(task.history);
  expect(taskOf(await rpc(url, 'GetTask', { id: task.id }, alice))).toEqual(task);
});

test('an admin may answer for the one who was asked', async () => {
  const llm = new ScriptedLlm([ask({ to: 'bob', text: 'Which colour?' }), reply('Red.')]);
  const { url } = await startTestHarness(llm);
  const parts = [taskFor({ alice: 'admin', bob: 'reporter' })];
  const task = taskOf(await rpc(url, 'SendMessage', say('', { parts }), alice));
  const id = open(task)['Which colour?'];
  const done = taskOf(await rpc(url, 'SendMessage', helpReply(task, 'alice', id, { text: 'red' }), alice));
  expect(open(done)).toEqual({});
  expect(lastRead(llm.requests)).toContain('[message from alice in answer to the question "Which colour?"]');
});

test("a watcher reads a task, and a watcher's message is refused", async () => {
  const { url } = await startTestHarness([reply('Hello.')]);
  const parts = [taskFor({ alice: 'reporter', wanda: 'watcher' })];
  const task = taskOf(await rpc(url, 'SendMessage', say('', { parts }), alice));
  const wanda = { participant: 'wanda' };
  expect(taskOf(await rpc(url, 'GetTask', { id: task.id }, wanda))).toEqual(task);
  const stream = await openStream(url, 'SendStreamingMessage', say('Me too', { taskId: task.id }), wanda);
  expect((await stream.rest()).map(seen)).toMatchObject([
    { kind: 'task', state: 'INPUT_REQUIRED' },
    { kind: 'status', state: 'INPUT_REQUIRED', text: 'a watcher may read this task but not write to it' },
  ]);
  expect(taskOf(await rpc(url, 'GetTask', { id: task.id }, alice))).toEqual(task);
});

test('a channel part that names another channel is refused in the same words whether or not it exists', async () => {
  const { url } = await startTestHarness([reply('One.'), reply('Two.')]);
  const task = await openTask(url);
  const other = taskOf(await rpc(url, 'SendMessage', say('mine'), { participant: 'carol' }));
  const refusals: unknown[] = [];
  for (const channel of [other.id, 'there-is-none']) {
    const message = helpReply(task, 'alice', undefined, {
      channel_id: channel,
      kind: 'message',
      text: 'Psst',
    });
    const stream = await openStream(url, 'SendStreamingMessage', message, alice);
    const [, refusal] = (await stream.rest()).map(seen);
    refusals.push([refusal?.state, refusal?.text]);
  }
  expect(refusals).toEqual([
    ['INPUT_REQUIRED', 'you are not on that channel'],
    ['INPUT_REQUIRED', 'you are not on that channel'],
  ]);
  expect(taskOf(await rpc(url, 'GetTask', { id: task.id }, alice))).toEqual(task);
});

test('a channel part is sent in its own name, and needs a task', async () => {
  const { url } = await startTestHarness([reply('One.')]);
  const task = await openTask(url);
  const masked = await rpc(url, 'SendMessage', helpReply(task, 'bob', undefined, { text: 'x' }), alice);
  expect(masked.error).toMatchObject({ code: -32602 });
  expect(masked.error?.message).toContain('"bob"');
  const early = say('', {
    parts: [channelPart({ channel_id: 'c', sender: 'alice', kind: 'message', text: 'x' })],
  });
  expect((await rpc(url, 'SendMessage', early, alice)).error).toMatchObject({ code: -32602 });
});

test('an answer that comes while the task works is taken, and its question is not asked again', async () => {
  const busy = Promise.withResolvers<void>();
  const model = Promise.withResolvers<void>();
  const llm = new ScriptedLlm(async (_request, number) => {
    if (number === 1) return ask({ to: 'alice', text: 'First?' }, { to: 'bob', text: 'Second?' });
    if (number === 2) {
      busy.resolve();
      await model.promise;
    }
    return reply(`Reply ${number}.`);
  });
  const { url } = await startTestHarness(llm);
  const task = await openTask(url);
  const first = openStream(url, 'SendStreamingMessage', say('yes', { taskId: task.id }), alice);
  await busy.promise;
  const second = await openStream(url, 'SendStreamingMessage', say('no', { taskId: task.id }), bob);
  await second.until(inState('WORKING'));
  model.resolve();
  await (await first).rest();
  await second.rest();
  const done = taskOf(await rpc(url, 'GetTask', { id: task.id }, alice));
  expect(open(done)).toEqual({});
  expect(lastRead(llm.requests)).toContain('in answer to the question "Second?"]\nno');
  expect(statusParts(done)).toEqual([{ text: 'Reply 3.' }]);
});
