import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SqliteStore } from '../../src/adapters/store/sqlite/index.ts';
import {
  Journal,
  type JournalEvent,
  LocalBus,
  type NewEntry,
  type TextDelta,
} from '../../src/core/persistence/index.ts';
import { createRedactor, secretRegistry } from '../../src/core/security/index.ts';
import { testFolder } from '../support/harness.ts';

/** A journal with one task; nothing runs it, the test writes and publishes itself. */
async function openJournal() {
  const store = SqliteStore.open(join(testFolder(), 'store.db'));
  onTestFinished(() => store.close());
  const bus = new LocalBus();
  const journal = new Journal(
    store,
    bus,
    createRedactor(() => secretRegistry().snapshot()),
  );
  await journal.admit({
    inbox: {
      key: 'k',
      taskId: 't',
      sender: 'alice',
      senderKind: 'human',
      messageId: 'm',
      bodyHash: '',
      message: { parts: [], extensions: [], referenceTaskIds: [] },
      mail: { key: 'k', messageId: 'm', sender: 'alice', role: 'reporter', kind: 'human' },
    },
    task: {
      id: 't',
      contextId: 'c',
      reporter: 'alice',
      data: {
        name: 'n',
        goal: 'g',
        type: null,
        description: '',
        acceptanceCriteria: [],
        participants: [],
        parentTasks: [],
        subTasks: [],
        plan: null,
        lifecycle: 'conversation',
        model: null,
        reasoningEffort: null,
      },
    },
    entries: [{ key: 'message:k', exchange: 1, body: { kind: 'message', inbox: 'k' } }],
  });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  return {
    journal,
    stop,
    say: (delta: TextDelta) => bus.publish('t', { kind: 'delta', delta }),
    follow: (after: number) => journal.follow('t', after, stop.signal),
  };
}

function response(turn: number, text: string): NewEntry {
  return { key: `response:1.${turn}`, exchange: 1, body: { kind: 'response', text } };
}

function piece(turn: number, text: string, first = false, writer = turn + 1): TextDelta {
  return { exchange: 1, turn, text, first, writer };
}

function shown(event: JournalEvent | undefined): string {
  if (event === undefined) return 'end';
  return event.kind === 'delta' ? event.delta.text : event.entry.key;
}

/** Reads up to the entry of this key. */
async function readTo(events: AsyncGenerator<JournalEvent, void, undefined>, key: string): Promise<string[]> {
  const read: string[] = [];
  while (read.at(-1) !== key) {
    const next = await events.next();
    read.push(shown(next.done === true ? undefined : next.value));
  }
  return read;
}

test('a reader that has the beginning of a text gets every piece, then the whole', async () => {
  const { journal, say, follow } = await openJournal();
  const events = follow(1);
  const first = events.next();
  say(piece(0, 'He', true));
  say(piece(0, 'llo'));
  await journal.write('t', { entries: [response(0, 'Hello')] });
  expect(shown((await first).value ?? undefined)).toBe('He');
  expect(await readTo(events, 'response:1.0')).toEqual(['llo', 'response:1.0']);
});

test('a reader that comes in the middle of a text gets the whole alone', async () => {
  const { journal, say, follow } = await openJournal();
  say(piece(0, 'He', true));
  const events = follow(0);
  expect(await readTo(events, 'message:k')).toEqual(['message:k']);
  const rest = readTo(events, 'response:1.1');
  say(piece(0, 'llo'));
  await journal.write('t', { entries: [response(0, 'Hello')] });
  say(piece(1, 'By', true));
  say(piece(1, 'e'));
  await journal.write('t', { entries: [response(1, 'Bye')] });
  expect(await rest).toEqual(['response:1.0', 'By', 'e', 'response:1.1']);
});

test('pieces of a text whose whole was read from the log are not shown after it', async () => {
  const { journal, say, follow } = await openJournal();
  await journal.write('t', { entries: [response(0, 'Hello')] });
  const events = follow(0);
  const first = events.next();
  say(piece(0, 'He', true));
  say(piece(0, 'llo'));
  await journal.write('t', { entries: [response(1, 'Bye')] });
  expect(shown((await first).value ?? undefined)).toBe('message:k');
  expect(await readTo(events, 'response:1.1')).toEqual(['response:1.0', 'response:1.1']);
});

test('a text that starts over takes the place of the one before, which says no more, late or again', async () => {
  const { journal, say, follow } = await openJournal();
  const events = follow(1);
  const first = events.next();
  say(piece(0, 'Hel', true, 1));
  say(piece(0, 'Good ', true, 3));
  say(piece(0, 'lo', false, 1));
  say(piece(0, 'Hey', true, 2));
  say(piece(0, 'day', false, 3));
  await journal.write('t', { entries: [response(0, 'Good day')] });
  expect(shown((await first).value ?? undefined)).toBe('Hel');
  expect(await readTo(events, 'response:1.0')).toEqual(['Good ', 'day', 'response:1.0']);
});

test('a reader that fell far behind hears nothing of an attempt that was replaced', async () => {
  const { journal, say, follow } = await openJournal();
  const events = follow(1);
  const first = events.next();
  say(piece(0, 'start', true, 2));
  expect(shown((await first).value ?? undefined)).toBe('start');
  for (let at = 0; at < 1500; at += 1) say(piece(0, `${at}`, false, 2));
  const read = readTo(events, 'note');
  say(piece(0, 'old', true, 1));
  await journal.write('t', { entries: [{ key: 'note', exchange: 1, body: { kind: 'note', text: '' } }] });
  expect(await read).toEqual(['note']);
});

test('a reader that falls far behind misses pieces, and no entry', async () => {
  const { journal, say, follow } = await openJournal();
  const events = follow(1);
  const first = events.next();
  say(piece(0, 'start', true));
  expect(shown((await first).value ?? undefined)).toBe('start');
  for (let at = 0; at < 1500; at += 1) say(piece(0, `${at}`));
  await journal.write('t', { entries: [response(0, 'Whole')] });
  expect(await readTo(events, 'response:1.0')).toEqual(['response:1.0']);
});

test('a reader ends when it is told to, also while it waits', async () => {
  const { follow, stop } = await openJournal();
  const events = follow(1);
  const waiting = events.next();
  stop.abort();
  expect((await waiting).done).toBe(true);
});
