import { expect, test } from 'vitest';
import { EXTENSION, METADATA } from '../../src/core/extensions/index.ts';
import { MONITOR_QUERY } from '../../src/service/durable/contract/index.ts';
import { call, reply, type Script, ScriptedLlm } from '../../src/testing/index.ts';
import { dataOf, readIn, subTasks } from '../people/talk.ts';
import { startTestHarness } from '../support/harness.ts';
import {
  brief,
  inState,
  type Json,
  openStream,
  type RawEvent,
  type RawStream,
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
const wanda = { participant: 'wanda' };
const MEMBERS = { alice: 'reporter', wanda: 'watcher' };

/** Two models to choose from. */
const settings = {
  openai: { base_url: 'http://localhost:1/v1', model: 'scripted', models: ['scripted', 'qwen3'] },
};

/** A harness that answers everything, unless the script says otherwise, with a task of alice that wanda watches. */
async function started(script: Script = () => reply('Ok.'), options = {}) {
  const llm = new ScriptedLlm(script);
  const at = await startTestHarness(llm, { settings, ...options });
  const open = say('', { parts: [{ text: 'Hi' }, taskFor(MEMBERS)] });
  const { id } = taskOf(await rpc(at.url, 'SendMessage', open, alice));
  const give = (text: string, message: Json = {}, who = alice) =>
    openStream(at.url, 'SendStreamingMessage', say(text, { taskId: id, ...message }), who);
  return {
    ...at,
    llm,
    id: String(id),
    task: async (who = alice) => taskOf(await rpc(at.url, 'GetTask', { id }, who)),
    /** A message on the task, to its end. */
    say: async (text: string, message: Json = {}, who = alice) =>
      taskOf(await rpc(at.url, 'SendMessage', say(text, { taskId: id, ...message }), who)),
    stream: give,
    /** What a command was answered with. */
    answer: async (text: string, who = alice) => lastOf(await give(text, {}, who)),
  };
}

async function lastOf(stream: RawStream): Promise<string | undefined> {
  return (await stream.rest()).map(seen).at(-1)?.text;
}

/** The message in the status of an update. */
function messageOf(update: RawEvent | undefined): Json {
  const { status } = (update?.result?.statusUpdate ?? {}) as { status?: { message?: Json } };
  return status?.message ?? {};
}

function history(
  task: Json,
): { readonly messageId: string; readonly metadata?: Json; readonly parts: Json[] }[] {
  return task.history as never;
}

/** A model that answers its `number`th request once the test lets it. */
function gated(number: number) {
  const [asked, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const script: Script = async (_, at) => {
    if (at === number) asked.resolve();
    if (at === number) await go.promise;
    return reply(`Reply ${at}.`);
  };
  return { script, asked: asked.promise, go: go.resolve };
}

test('SF-5: a command is answered by a status update that leaves the task as it was; no model is called', async () => {
  const { id, llm, stream, say: send, task } = await started();
  const before = await task();
  const answers: readonly (readonly [string, string])[] = [
    ['/status', 'Shed\nINPUT_REQUIRED: waits for the next message'],
    ['/model', 'model: scripted (the default)\nto choose from: scripted, qwen3, default'],
    ['/model qwen3', 'model: qwen3'],
    ['/model default', 'model: scripted (the default)'],
    ['/effort', 'effort: as the model has it (the default)'],
    ['/effort low', 'effort: low'],
    ['/effort default', 'effort: as the model has it (the default)'],
    ['/approvals', 'no call waits for approval'],
    // Ill-formed ones answer how they are used, and do nothing.
    ['/effort much', 'usage: /effort [low|medium|high|default]'],
    ['/model gpt-2', 'there is no model "gpt-2" to choose; there are: scripted, qwen3, default'],
    ['/sub-task', 'usage: /sub-task <what is to be done>'],
    ['/status now', 'usage: /status'],
    ['/approvals all', 'usage: /approvals'],
    ['/complete the first', 'usage: /complete'],
    ['/cancel the second order', 'usage: /cancel'],
  ];
  for (const [text, says] of answers) {
    const command = text.slice(1).split(' ')[0];
    const [snapshot, update, ...others] = await (await stream(text)).rest();
    expect.soft(snapshot?.result?.task, text).toMatchObject({ id, status: before.status });
    expect.soft(others, text).toEqual([]);
    const answer = seen(update as never);
    expect.soft(answer, text).toMatchObject({
      kind: 'status',
      state: 'INPUT_REQUIRED',
      text: says,
      messageId: `${id}:command:${answer.id}`,
      metadata: { [METADATA.status]: { sub_state: 'awaiting-next-message' } },
    });
    const shown = messageOf(update);
    expect.soft(shown.metadata, text).toEqual({ command });
    // To a blocking send, and to whoever reads later, it stands in the history behind the command.
    const blocking = await send(text);
    expect.soft(blocking.status, text).toEqual(before.status);
    const [first, second, third, fourth] = history(blocking).slice(-4);
    for (const given of [first, third]) {
      expect.soft(given, text).toMatchObject({ parts: [{ text }], metadata: { participant_id: 'alice' } });
    }
    expect.soft(second, text).toEqual(shown);
    expect.soft(fourth, text).toMatchObject({ metadata: { command }, parts: [{ text: says }] });
  }
  const after = await task();
  expect([after.status, dataOf(after)]).toEqual([before.status, dataOf(before)]);
  expect(history(after)).toHaveLength(history(before).length + answers.length * 4);
  expect(llm.requests).toHaveLength(1);
  // Nor does the model ever read of them.
  await send('Go on');
  expect(llm.requests[1]?.input.slice(1)).toEqual([
    { type: 'user', text: '[message from alice]\nHi' },
    { type: 'assistant', text: 'Ok.', calls: [] },
    { type: 'user', text: '[message from alice]\nGo on' },
  ]);
});

test('SF-5: /model and /effort are for the next request, on this task, and outlive a restart', async () => {
  const at = await started();
  await at.say('/model qwen3');
  await at.say('/effort high');
  expect(dataOf(await at.task())).toMatchObject({ model: 'qwen3', reasoning_effort: 'high' });
  await at.say('Go');
  expect(at.llm.requests.map(({ model, effort }) => [model, effort])).toEqual([
    [undefined, undefined],
    ['qwen3', 'high'],
  ]);
  // At rest: what a worker had begun when it stopped is given to another after 10 s only.
  await at.harness.client.workflow.getHandle(at.id).query(MONITOR_QUERY);
  await at.harness.stop();

  const llm = new ScriptedLlm(() => reply('Back.'));
  const { folder, agentId, id } = at;
  const { url } = await startTestHarness(llm, { folder, agentId, settings });
  const send = (text: string, message: Json) => rpc(url, 'SendMessage', say(text, message), alice);
  await send('Go on', { taskId: id });
  await send('/effort default', { taskId: id });
  await send('/model default', { taskId: id });
  await send('And on', { taskId: id });
  await send('Another task', {});
  expect(llm.requests.map(({ model, effort }) => [model, effort])).toEqual([
    ['qwen3', 'high'],
    [undefined, undefined],
    [undefined, undefined],
  ]);
});

test('a change by a command is shown to who asks for the data of the task', async () => {
  const { url, id, say: send } = await started();
  const watching = { ...wanda, extensions: [EXTENSION.task] };
  const watched = await openStream(url, 'SubscribeToTask', { id }, watching);
  await send('/model qwen3');
  const events = (
    await watched.until(({ result }) => JSON.stringify(result).includes('"model":"qwen3"'))
  ).map(seen);
  expect(events.at(-1)?.metadata?.[METADATA.task]).toMatchObject({ model: 'qwen3' });
  watched.drop();
});

test('SF-5: what is no command is a message: an unknown name, more parts, a space before it, a name in a sentence', async () => {
  const { llm, say: send } = await started();
  const messages: readonly Json[] = [
    { parts: [{ text: '/weather Berlin' }] },
    { parts: [{ text: '/status' }, { text: 'please' }] },
    { parts: [{ text: '/status' }, { data: { a: 1 } }] },
    { parts: [{ text: ' /status' }] },
    { parts: [{ text: '/Status' }] },
    { parts: [{ text: '/home/alice is full' }] },
    { parts: [{ text: 'What does /status do?' }] },
  ];
  for (const [at, message] of messages.entries()) {
    const task = await send('', message);
    expect.soft(statusParts(task), JSON.stringify(message)).toEqual([{ text: 'Ok.' }]);
    expect(llm.requests).toHaveLength(at + 2);
  }
  expect(readIn(llm.requests[2])).toContain('[message from alice]\n/status\n\nplease');
});

test('SF-5: a command needs a task; one that looks like one and is none opens it', async () => {
  const { url, llm } = await started();
  for (const text of ['/status', '/cancel', '/complete', '/effort much', '/sub-task Buy paint']) {
    const { error } = await rpc(url, 'SendMessage', say(text), alice);
    expect
      .soft(error, text)
      .toMatchObject({ code: -32004, message: expect.stringContaining('needs a task') });
  }
  expect((await rpc(url, 'ListTasks', {}, alice)).result).toMatchObject({ totalSize: 1 });
  const task = taskOf(await rpc(url, 'SendMessage', say('/weather Berlin'), alice));
  expect(dataOf(task)).toMatchObject({ goal: '/weather Berlin' });
  expect(llm.requests).toHaveLength(2);
});

test('SF-5, PC-10: a watcher may look, and no more', async () => {
  const { id, task, answer, llm } = await started();
  for (const text of ['/status', '/model', '/effort', '/approvals', '/status now']) {
    expect.soft(await answer(text, wanda), text).not.toContain('may not');
  }
  const before = await task();
  for (const text of [
    '/model qwen3',
    '/model gpt-2',
    '/effort low',
    '/sub-task Buy paint',
    '/complete',
    '/cancel',
  ]) {
    const [name] = text.split(' ');
    expect.soft(await answer(text, wanda), text).toBe(`a watcher may not give ${name} here`);
  }
  expect(await task()).toEqual(before);
  expect(id).toBe(before.id);
  expect(llm.requests).toHaveLength(1);
});

test('AS-10: the same command again, one after the other or at once, has one effect and one answer', async () => {
  const { url, id, stream, task } = await started();
  const given = { messageId: 'once' };
  const streams = await Promise.all([1, 2, 3].map(() => stream('/sub-task Buy paint', given)));
  const answers = await Promise.all(streams.map((each) => each.rest()));
  const again = await (await stream('/sub-task Buy paint', given)).rest();
  expect(again.map(brief)).toEqual(['task:INPUT_REQUIRED']);
  const said = history(await task()).filter(({ metadata }) => metadata?.command === 'sub-task');
  expect(said).toHaveLength(1);
  for (const events of answers) {
    const shown = events.length > 1 ? seen(events.at(-1) as never).messageId : said[0]?.messageId;
    expect(shown).toBe(said[0]?.messageId);
  }
  expect(subTasks(await task())).toHaveLength(1);
  const other = await rpc(url, 'SendMessage', say('/status', { taskId: id, ...given }), alice);
  expect(other.error?.data[0]).toMatchObject({ reason: 'MESSAGE_ID_REUSED' });
});

test('SF-5: a command is answered while a turn runs, and disturbs it in no way', async () => {
  const { script, asked, go } = gated(2);
  const { harness, id, llm, stream, say: send, task } = await started(script);
  const working = await stream('Work');
  await asked;
  const [, answer] = (await (await stream('/status')).rest()).map(seen);
  expect(answer).toMatchObject({ state: 'WORKING', text: 'Shed\nWORKING' });
  expect(answer?.metadata).toBeUndefined();
  await send('/model qwen3');
  // Not even with the wish to interrupt, which a watcher's may have too.
  const interrupt = { metadata: { interrupt: true } };
  expect(await lastOf(await stream('/status', interrupt, wanda))).toBe('Shed\nWORKING');
  expect(rawState(await task())).toBe('WORKING');
  go();

  const events = (await working.rest()).map(seen);
  const { events: kept } = await harness.client.workflow.getHandle(id).fetchHistory();
  expect(kept?.filter((event) => event.activityTaskCancelRequestedEventAttributes)).toEqual([]);
  expect(events.filter(({ messageId }) => messageId?.includes(':command:')).map(({ text }) => text)).toEqual([
    'Shed\nWORKING',
    'model: qwen3',
    'Shed\nWORKING',
  ]);
  expect(events.at(-1)).toMatchObject({ state: 'INPUT_REQUIRED', text: 'Reply 2.' });
  await send('And now');
  expect(llm.requests.map(({ model }) => model)).toEqual([undefined, undefined, 'qwen3']);
});

test('SF-5: a command answers no question; /status and /approvals show what is open', async () => {
  const {
    stream,
    answer,
    say: send,
    task,
  } = await started([
    call('ask_participant', { participant_id: 'alice', question: 'Which colour?' }),
    reply('Blue it is.'),
  ]);
  const before = await task();
  expect(await answer('/status')).toBe(
    'Shed\nINPUT_REQUIRED: waits for an answer\nasked:\n  alice: Which colour?',
  );
  const [, shown] = (await (await stream('/approvals')).rest()).map(seen);
  expect(shown?.metadata).toEqual({ [METADATA.status]: { sub_state: 'awaiting-answer' } });
  expect((await task()).status).toEqual(before.status);
  expect(statusParts(await send('blue'))).toEqual([{ text: 'Blue it is.' }]);
});

test('SF-5, ST-1: /sub-task starts a sub-task that is linked both ways, and its result comes back', async () => {
  const { url, id, llm, stream, task } = await started((request) => {
    const ofChild = JSON.stringify(request.input[0]).includes('goal: Buy paint');
    return reply(ofChild ? 'Bought.' : readIn(request).includes('Bought.') ? 'Noted.' : 'Ok.');
  });
  const watched = await openStream(url, 'SubscribeToTask', { id }, alice);
  const [, answer] = (await (await stream('/sub-task Buy paint\nand a brush')).rest()).map(seen);
  expect(answer?.text).toBe('starts the sub-task "Buy paint"');
  await watched.until(({ result }) => JSON.stringify(result).includes('Noted.'));
  watched.drop();

  const { sub_tasks: links } = dataOf(await task()) as { sub_tasks: Json[] };
  expect(links).toMatchObject([{ agent: null, state: 'COMPLETED' }]);
  const child = taskOf(await rpc(url, 'GetTask', { id: links[0]?.task_id }, alice));
  expect(dataOf(child)).toMatchObject({
    name: 'Buy paint',
    goal: 'Buy paint\nand a brush',
    lifecycle: 'delegated',
    parent_tasks: [{ task_id: id, agent: null }],
  });
  expect(readIn(llm.requests.at(-1))).toMatch(/ended: COMPLETED\]\n.*Bought\./s);
});

test('SF-5, PC-13: /complete completes, as the control envelope does, and says who did', async () => {
  const { url, id, stream, say: send } = await started();
  const given = { messageId: 'end' };
  const events = (await (await stream('/complete', given)).rest()).map(seen);
  expect(events.map(({ state, text }) => [state, text]).at(-1)).toEqual(['COMPLETED', 'Completed by alice.']);
  const done = await send('/complete', given);
  expect(rawState(done)).toBe('COMPLETED');
  expect(
    history(done)
      .slice(-2)
      .map(({ parts }) => parts[0]?.text),
  ).toEqual(['/complete', 'Completed by alice.']);
  const late = await rpc(url, 'SendMessage', say('/status', { taskId: id }), alice);
  expect(late.error).toMatchObject({ code: -32004, message: expect.stringContaining('COMPLETED') });
});

test('SF-5: /cancel cancels what runs, as CancelTask does; the same again is the same end', async () => {
  const asked = Promise.withResolvers<void>();
  const {
    url,
    id,
    stream,
    say: send,
  } = await started((_, number) => {
    if (number === 1) return reply('Ok.');
    asked.resolve();
    return reply('Never said.', { delayMs: 600_000 });
  });
  const working = await stream('Work');
  await asked.promise;
  const given = { messageId: 'stop' };
  const [one, two] = await Promise.all([send('/cancel', given), send('/cancel', given)]);
  expect([rawState(one), rawState(two)]).toEqual(['CANCELED', 'CANCELED']);
  expect(await lastOf(working)).toBe('Canceled by alice.');
  const again = await send('/cancel', given);
  expect(again).toEqual(one);
  expect((await (await stream('/cancel', given)).rest()).map(brief)).toEqual(['task:CANCELED']);
  const texts = history(again).map(({ parts }) => parts[0]?.text);
  expect(texts).toEqual(['Hi', 'Ok.', 'Work', '/cancel', 'Canceled by alice.']);
  const other = await rpc(url, 'SendMessage', say('/cancel', { taskId: id }), alice);
  expect(other.error).toMatchObject({ code: -32004, message: expect.stringContaining('CANCELED') });
});

test('SF-5: /cancel cancels a task that waits', async () => {
  const { stream } = await started();
  const events = await (await stream('/cancel')).rest();
  expect(events.map(brief)).toEqual(['task:INPUT_REQUIRED', 'status:CANCELED']);
});

test('a command reaches a task whose first turn has not begun', async () => {
  const { script, asked, go } = gated(1);
  const { url } = await startTestHarness(script);
  const first = await openStream(url, 'SendStreamingMessage', say('Hi'), alice);
  const { id } = snapshotOf(await first.until(inState('SUBMITTED')));
  const command = await openStream(url, 'SendStreamingMessage', say('/status', { taskId: id }), alice);
  expect(await lastOf(command)).toMatch(/^Hi\n(SUBMITTED|WORKING)$/);
  await asked;
  go();
  expect(await lastOf(first)).toBe('Reply 1.');
});
