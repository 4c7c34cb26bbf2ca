import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { SqliteStore } from '../../src/adapters/store/sqlite/index.ts';
import { Journal, type JournalEvent, LocalBus } from '../../src/core/persistence/index.ts';
import { createRedactor, createSecretRegistry } from '../../src/core/security/index.ts';
import { testFolder } from '../support/harness.ts';
import { DATA } from './contract.ts';

/** A journal over a store with one task, whose log has one entry; what is read of the log is counted. */
async function openJournal() {
  const store = SqliteStore.open(join(testFolder(), 'store.db'));
  onTestFinished(() => store.close());
  const bus = new LocalBus();
  const secrets = createSecretRegistry();
  const journal = new Journal(
    store,
    bus,
    createRedactor(() => secrets.snapshot()),
  );
  await journal.admit({
    inbox: {
      key: 'm1',
      taskId: 'task',
      sender: 'alice',
      senderKind: 'human',
      messageId: 'm1',
      bodyHash: '',
      message: { parts: [], extensions: [], referenceTaskIds: [] },
      mail: { key: 'm1', messageId: 'm1', sender: 'alice', role: 'reporter', kind: 'human' },
    },
    task: { id: 'task', contextId: 'context', reporter: 'alice', data: DATA },
    entries: [{ key: 'message:m1', exchange: 1, body: { kind: 'message', inbox: 'm1' } }],
  });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  return {
    journal,
    reads: vi.spyOn(store, 'log'),
    follow: (after: number) => journal.follow('task', after, stop.signal),
    note: (key: string) =>
      journal.write('task', { entries: [{ key, exchange: 1, body: { kind: 'note', text: key } }] }),
    say: (text: string, first = false) =>
      bus.publish('task', { kind: 'delta', delta: { exchange: 1, turn: 0, text, first, writer: 1 } }),
  };
}

async function take(events: AsyncGenerator<JournalEvent, void, undefined>, count: number) {
  const taken: JournalEvent[] = [];
  while (taken.length < count) {
    const next = await events.next();
    if (next.done === true) throw new Error(`the reader ended after ${taken.length} events`);
    taken.push(next.value);
  }
  return taken;
}

const seqOf = (event: JournalEvent) => (event.kind === 'entry' ? event.entry.seq : undefined);

test('a reader takes a long log in pages, and goes on with what is written meanwhile', async () => {
  const { journal, reads, follow, note } = await openJournal();
  const entries = Array.from({ length: 499 }, (_, at) => ({
    key: `n${at}`,
    exchange: 1,
    body: { kind: 'note' as const, text: 'x' },
  }));
  await journal.write('task', { entries });

  const events = follow(0);
  const begun = await take(events, 250);
  await note('meanwhile');
  const all = [...begun, ...(await take(events, 251))];

  expect(all.map(seqOf)).toEqual(Array.from({ length: 501 }, (_, at) => at + 1));
  const pages = await Promise.all(reads.mock.results.map(({ value }) => value));
  expect(pages.map((page) => page.length)).toEqual([200, 200, 101]);
});

test('a reader whose log ends with a full page goes on live', async () => {
  const { journal, follow, note } = await openJournal();
  const entries = Array.from({ length: 199 }, (_, at) => ({
    key: `n${at}`,
    exchange: 1,
    body: { kind: 'note' as const, text: 'x' },
  }));
  await journal.write('task', { entries });
  const events = follow(0);
  await take(events, 200);
  const next = take(events, 1);

  await note('live');

  expect((await next).map(seqOf)).toEqual([201]);
});

test.each([
  ['keeps', 400, 'all of it'],
  ['drops', 600, 'and goes back to the log'],
])('a slow reader %s %i KB of text, %s', async (keeps, kilobytes) => {
  const { follow, note, say } = await openJournal();
  const events = follow(1);
  const first = take(events, 1);
  say('begins', true);
  await first;

  for (let at = 0; at < 100; at += 1) say('x'.repeat(kilobytes * 10));
  await note('after');
  const read = await take(events, keeps === 'keeps' ? 101 : 1);

  expect(read.map(seqOf)).toEqual([...Array.from({ length: read.length - 1 }, () => undefined), 2]);
});

test('a worker that was thought lost and writes on is heard no more once another has begun', async () => {
  const { journal, follow, note } = await openJournal();
  const turn = { exchange: 1, turn: 0 };
  const events = follow(1);
  const begun = take(events, 1);
  const lost = journal.text('task', turn);
  lost.write('Once upon a time, there ');
  await begun;

  const next = journal.text('task', turn);
  next.write('Long ago, in a land ');
  lost.write('was a king.');
  lost.end();
  next.write('far away.');
  next.end();
  await note('after');

  let text = '';
  for await (const event of events) {
    if (event.kind === 'entry') break;
    text = event.delta.first ? event.delta.text : text + event.delta.text;
  }
  expect(text).toBe('Long ago, in a land far away.');
});
