import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { SqliteStore } from '../../src/adapters/store/sqlite/index.ts';
import type { ChannelMedium } from '../../src/core/channels/index.ts';
import type { LlmRequest } from '../../src/core/models/index.ts';
import type { LogEntry } from '../../src/core/persistence/index.ts';
import { defineTool } from '../../src/core/tools/index.ts';
import { call, PulledMedium, reply, type Script, ScriptedLlm } from '../../src/testing/index.ts';
import { channelParts, type Json, rawState, rpc, say, statusParts, taskFor, taskOf } from '../http/raw.ts';
import { startTestHarness } from '../support/harness.ts';

const alice = { participant: 'alice' };

const ask = (who: string, question: string, options: string[] = []) =>
  call('ask_participant', { participant_id: who, question, options });

/** Reads the store that a harness works on, beside it. */
async function readStore<T>(folder: string, read: (store: SqliteStore) => Promise<T>): Promise<T> {
  const store = SqliteStore.open(join(folder, 'store.db'));
  try {
    return await read(store);
  } finally {
    await store.close();
  }
}

/** Sequences of the questions in a log. */
const questionsIn = (log: readonly LogEntry[]) =>
  log.filter(({ body }) => body.kind === 'question').map(({ seq }) => seq);

function refusalsIn(folder: string): Json[] {
  const database = new Database(join(folder, 'store.db'), { readonly: true });
  try {
    return database.prepare('select sender, reason from refusals').all() as Json[];
  } finally {
    database.close();
  }
}

/** A harness that also speaks over the media, with what a test looks at. */
async function started(script: Script, media: readonly ChannelMedium[], options = {}) {
  const llm = new ScriptedLlm(script);
  const settings = { heartbeat: { interval: '1s' } };
  const at = await startTestHarness(llm, { media, settings, ...options });
  const get = async (id: unknown) => taskOf(await rpc(at.url, 'GetTask', { id }, alice));
  return {
    ...at,
    llm,
    /** Alice opens a task; it is as it is when the agent waits. */
    open: async (roles: Record<string, string> = { alice: 'reporter', bob: 'reporter' }) => {
      const parts = [{ text: 'Paint the shed' }, taskFor(roles)];
      return taskOf(await rpc(at.url, 'SendMessage', say('', { parts }), alice));
    },
    task: get,
    /** The task, once its status says this. */
    async says(id: unknown, text: string): Promise<Json> {
      await expect.poll(async () => saidBy(await get(id)), { timeout: WORKER_CHANGE_MS }).toBe(text);
      return get(id);
    },
  };
}

/** The words of a task's status. */
const saidBy = (task: Json) => statusParts(task)[0]?.text;

/** Everything the model read in a request, as one text. */
const read = (request: LlmRequest | undefined) => JSON.stringify(request?.input);

/** Long enough for what a stopped worker had begun to be given to another, which takes Temporal 10 s. */
const WORKER_CHANGE_MS = 20_000;

describe('what the agent says', () => {
  test('PC-2: a question goes out to the one it is asked of, after it is stored and under its id', async () => {
    const stored: (readonly number[])[] = [];
    class Checking extends PulledMedium {
      override async send(...[message, task]: Parameters<PulledMedium['send']>) {
        stored.push(questionsIn(await readStore(folder, (store) => store.log(task.id))));
        await super.send(message, task);
      }
    }
    const medium = new Checking();
    const { folder, open } = await started([ask('bob', 'Which colour?', ['red', 'blue'])], [medium]);

    const task = await open();

    const [question, ...more] = medium.outbox('bob');
    expect(more).toEqual([]);
    expect(question).toMatchObject({
      taskId: task.id,
      text: 'Which colour?\nOptions: red, blue',
      to: ['bob'],
      question: { participantIds: ['bob'], text: 'Which colour?', options: ['red', 'blue'] },
    });
    const [part] = channelParts(statusParts(task));
    expect(part?.parts).toMatchObject([{ data: { question_id: question?.id } }]);
    // It stood in the log when the medium got it.
    expect(stored.map((seqs) => seqs.map((seq) => `${String(task.id)}:help:${seq}`))).toEqual([
      [question?.id],
    ]);
    expect(medium.outbox('alice')).toEqual([]);
  });

  test('PC-2: a reply goes out to the people on the task, and to nobody whom the medium does not reach', async () => {
    const chat = new PulledMedium({ name: 'chat', reaches: ['bob'] });
    const mail = new PulledMedium({ name: 'mail' });
    const { open } = await started([reply('Painted.')], [chat, mail]);

    await open();

    expect(chat.outbox('bob').map(({ text, to }) => ({ text, to }))).toEqual([
      { text: 'Painted.', to: ['bob'] },
    ]);
    expect(chat.outbox('alice')).toEqual([]);
    expect(mail.outbox('alice')).toEqual(mail.outbox('bob'));
    expect(mail.outbox('alice').map(({ text, to }) => ({ text, to }))).toEqual([
      { text: 'Painted.', to: ['alice', 'bob'] },
    ]);
  });

  test('a medium that fails now and then is given the same message again', async () => {
    let failures = 2;
    class Flaky extends PulledMedium {
      override async send(...given: Parameters<PulledMedium['send']>) {
        if (failures-- > 0) throw new Error('the mail server is busy');
        await super.send(...given);
      }
    }
    const medium = new Flaky();
    const { open } = await started([ask('bob', 'Which colour?')], [medium]);

    const task = await open();

    expect(medium.outbox('bob')).toHaveLength(1);
    expect(rawState(task)).toBe('INPUT_REQUIRED');
  });

  test('a medium that always fails stops nothing: the other medium has the question, and so has A2A', async () => {
    let tried = 0;
    class Broken extends PulledMedium {
      override async send() {
        tried += 1;
        throw new Error('there is no mail server');
      }
    }
    const chat = new PulledMedium();
    const { url, open } = await started(
      [ask('bob', 'Which colour?'), reply('Blue, then.')],
      [new Broken({ name: 'mail' }), chat],
    );

    const task = await open();
    expect(chat.outbox('bob')).toHaveLength(1);
    expect(tried).toBe(3);

    const answer = say('blue', { taskId: task.id });
    const done = taskOf(await rpc(url, 'SendMessage', answer, { participant: 'bob' }));
    expect(saidBy(done)).toBe('Blue, then.');
  });
});

describe('what a participant says', () => {
  test('PC-4, PC-5: the reply to a question resumes the task, as the answer to the question it names', async () => {
    const medium = new PulledMedium();
    const { llm, open, says } = await started(
      [
        {
          calls: [
            { name: 'ask_participant', arguments: { participant_id: 'bob', question: 'Which colour?' } },
            { name: 'ask_participant', arguments: { participant_id: 'bob', question: 'When?' } },
          ],
        },
        reply('On Monday.'),
      ],
      [medium],
    );
    const task = await open();
    const when = await medium.sentTo('bob', ({ text }) => text === 'When?');

    medium.reply({ sender: 'bob', to: when, text: 'Monday', inReplyTo: when.id });

    const after = await says(task.id, 'On Monday.');
    expect(read(llm.requests[1])).toContain('in answer to the question \\"When?\\"]\\nMonday');
    expect(channelParts(statusParts(after)).map(({ text }) => text)).toEqual(['Which colour?']);
    expect(medium.waiting).toEqual([]);
  });

  test('PC-4: a reply that names no question answers the oldest one that was asked of its sender', async () => {
    const medium = new PulledMedium();
    const { llm, open, says } = await started([ask('bob', 'Which colour?'), reply('Blue.')], [medium]);
    const task = await open();

    const said = medium.reply({ sender: 'bob', to: String(task.id), text: 'blue' });

    const after = await says(task.id, 'Blue.');
    await medium.acknowledged(said);
    expect(read(llm.requests[1])).toContain('in answer to the question \\"Which colour?\\"]\\nblue');
    expect(channelParts(statusParts(after))).toEqual([]);
  });

  test('a message that no question waits for is worked on like any other', async () => {
    const medium = new PulledMedium();
    const { llm, open, says } = await started([reply('Painted.'), reply('You are welcome.')], [medium]);
    const task = await open();

    medium.reply({ sender: 'bob', to: String(task.id), text: 'Thanks!' });

    await says(task.id, 'You are welcome.');
    expect(read(llm.requests[1])).toContain('[message from bob]\\nThanks!');
    await medium.sentTo('bob', ({ text }) => text === 'You are welcome.');
  });

  test("PC-3: a watcher's reply is refused, recorded, and does not come again", async () => {
    const medium = new PulledMedium();
    const { folder, llm, open, task: get } = await started([ask('bob', 'Which colour?')], [medium]);
    const task = await open({ alice: 'reporter', bob: 'reporter', wanda: 'watcher' });

    await medium.acknowledged(medium.reply({ sender: 'wanda', to: String(task.id), text: 'red' }));

    expect(await get(task.id)).toEqual(task);
    expect(llm.requests).toHaveLength(1);
    expect(refusalsIn(folder)).toEqual([
      { sender: 'wanda', reason: 'a watcher may read this task but not write to it' },
    ]);
  });

  test("PC-3, PC-10: the answer to somebody else's question is refused, recorded, and does not come again", async () => {
    const medium = new PulledMedium();
    const { folder, open, task: get } = await started([ask('bob', 'Which colour?')], [medium]);
    const task = await open();
    const question = await medium.sentTo('bob');

    const said = medium.reply({ sender: 'alice', to: question, text: 'red', inReplyTo: question.id });
    await medium.acknowledged(said);

    expect(await get(task.id)).toEqual(task);
    expect(refusalsIn(folder)).toEqual([
      { sender: 'alice', reason: 'that question was asked of somebody else' },
    ]);
  });

  test("PC-3: a stranger's reply is refused, recorded, and does not come again", async () => {
    const medium = new PulledMedium();
    const { folder, llm, open, task: get } = await started([ask('bob', 'Which colour?')], [medium]);
    const task = await open();
    const question = await medium.sentTo('bob');

    const said = medium.reply({ sender: 'mallory', to: question, text: 'red', inReplyTo: question.id });
    await medium.acknowledged(said);

    expect(await get(task.id)).toEqual(task);
    expect(llm.requests).toHaveLength(1);
    expect(refusalsIn(folder)).toMatchObject([{ sender: 'mallory' }]);
  });

  test('a reply to a task that is not there, or has ended, is dropped, and those after it are taken in', async () => {
    const medium = new PulledMedium();
    const { llm, open, says } = await started([reply('Painted.'), reply('Again.')], [medium]);
    const task = await open();

    const lost = medium.reply({ sender: 'bob', to: 'no-such-task', text: 'hello?' });
    medium.reply({ sender: 'bob', to: String(task.id), text: 'once more' });

    await says(task.id, 'Again.');
    await medium.acknowledged(lost);
    expect(llm.requests).toHaveLength(2);
  });

  test('AS-10: a reply that is delivered twice has one effect', async () => {
    let unsaid = 2;
    class Forgetful extends PulledMedium {
      override async acknowledge(...given: Parameters<PulledMedium['acknowledge']>) {
        if (unsaid-- > 0) throw new Error('the connection was lost');
        await super.acknowledge(...given);
      }
    }
    const medium = new Forgetful();
    const { folder, llm, open, says } = await started(
      [ask('bob', 'Which colour?'), reply('Blue.')],
      [medium],
    );
    const task = await open();

    const said = medium.reply({ sender: 'bob', to: String(task.id), text: 'blue', id: 'mail-1' });
    await medium.acknowledged(said);
    // And by a mailbox that has lost its mind.
    medium.reply({ sender: 'bob', to: String(task.id), text: 'blue', id: 'mail-1' });
    await medium.acknowledged(said);

    await says(task.id, 'Blue.');
    expect(llm.requests).toHaveLength(2);
    const log = await readStore(folder, (store) => store.log(String(task.id), { kinds: ['message'] }));
    expect(log).toHaveLength(2);
  });

  test('a medium that cannot be pulled is pulled again, and holds up no other', async () => {
    let down = true;
    class Down extends PulledMedium {
      override async receive() {
        const received = await super.receive();
        if (down) throw new Error('the mail server is down');
        return received;
      }
    }
    const mail = new Down({ name: 'mail' });
    const chat = new PulledMedium({ name: 'chat' });
    const { open, says } = await started([ask('bob', 'Which?'), reply('Blue.'), reply('Red.')], [mail, chat]);
    const task = await open();
    mail.reply({ sender: 'bob', to: String(task.id), text: 'no, red' });

    chat.reply({ sender: 'bob', to: String(task.id), text: 'blue' });
    await says(task.id, 'Blue.');
    await mail.pulledAgain();
    down = false;

    await says(task.id, 'Red.');
  });

  test('PC-12: a call is approved by the text "approve", and by nothing that is only like it', async () => {
    const paid: number[] = [];
    const pay = defineTool({
      name: 'pay',
      description: 'Pays money.',
      input: z.object({ amount: z.number() }),
      run({ amount }) {
        paid.push(amount);
        return `paid ${amount}`;
      },
    });
    const medium = new PulledMedium();
    const { open, says } = await started(
      [call('app/pay', { amount: 25 }), reply('Not yet.'), reply('Paid.')],
      [medium],
      {
        tools: [pay],
        settings: {
          heartbeat: { interval: '1s' },
          approvals: { rules: [{ tool: 'app/pay', decision: 'ask', reason: 'It is money.' }] },
        },
      },
    );
    const task = await open({ alice: 'reporter', bob: 'admin' });
    const request = await medium.sentTo('bob');
    expect(request.text).toBe(
      'May the agent call app/pay?\n{"amount":25}\nIt is money.\nOptions: approve, deny',
    );
    expect(medium.outbox('alice')).toEqual([]);

    medium.reply({ sender: 'bob', to: request, text: 'Approve it!' });
    await says(task.id, 'Not yet.');
    expect(paid).toEqual([]);
    medium.reply({ sender: 'bob', to: request, text: 'approve' });
    await says(task.id, 'Paid.');
    expect(paid).toEqual([25]);
  });
});

test('an agent that stops leaves what it could not take in for the next one', async () => {
  const medium = new PulledMedium();
  const first = await started([ask('bob', 'Which colour?')], [medium]);
  const task = await first.open();
  await first.harness.stop();
  medium.reply({ sender: 'bob', to: String(task.id), text: 'blue' });

  const { folder, agentId } = first;
  const again = await started([reply('Blue.')], [medium], { folder, agentId });

  await again.says(task.id, 'Blue.');
  expect(medium.outbox('bob').map(({ text }) => text)).toEqual(['Which colour?', 'Blue.']);
});
