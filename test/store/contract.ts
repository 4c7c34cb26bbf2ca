import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HarnessError } from '../../src/core/base/index.ts';
import type { TaskData } from '../../src/core/loop/index.ts';
import type { AdmissionWrite, NewEntry, TaskStore } from '../../src/core/persistence/index.ts';
import { FakeClock } from '../../src/testing/index.ts';

/** Opens a store that is empty, and again the same one after a restart. */
export interface StoreFactory {
  open(clock: FakeClock): Promise<{ store: TaskStore; reopen(): Promise<TaskStore> }>;
}

export const DATA: TaskData = {
  name: 'Paint',
  goal: 'Paint the shed',
  type: null,
  description: '',
  acceptanceCriteria: [{ text: 'It is blue', met: false }],
  participants: [{ id: 'alice', kind: 'human', role: 'reporter', displayName: 'Alice' }],
  parentTasks: [],
  subTasks: [],
  plan: null,
  lifecycle: 'conversation',
  model: null,
  reasoningEffort: null,
};

const note = (key: string, text = key, exchange = 1): NewEntry => ({
  key,
  exchange,
  body: { kind: 'note', text },
});

const state = (key: string, to: 'WORKING' | 'INPUT_REQUIRED' | 'COMPLETED' | 'CANCELED', exchange = 1) => ({
  entries: [
    { key, exchange, body: { kind: 'state', state: to, subState: null, text: to, questions: [] } },
  ] satisfies NewEntry[],
  state: { state: to, subState: null, entry: key },
});

function admission(key: string, options: { taskId?: string; first?: boolean } = {}): AdmissionWrite {
  const { taskId = 'task', first = true } = options;
  return {
    inbox: {
      key,
      taskId,
      sender: 'alice',
      senderKind: 'human',
      messageId: key,
      bodyHash: `hash of ${key}`,
      message: { parts: [{ kind: 'text', text: `text of ${key}` }], extensions: [], referenceTaskIds: [] },
      mail: { key, messageId: key, sender: 'alice', role: 'reporter', kind: 'human' },
    },
    ...(first
      ? {
          task: { id: taskId, contextId: 'context', reporter: 'alice', data: DATA },
          entries: [
            {
              key: 'submitted',
              exchange: 0,
              body: { kind: 'state', state: 'SUBMITTED', subState: null, text: null, questions: [] },
            },
            { key: `message:${key}`, exchange: 1, body: { kind: 'message', inbox: key } },
          ],
        }
      : {}),
  };
}

/** What every store must do, whatever it is made of (SR-6). */
export function storeContract(factory: StoreFactory): void {
  const opened = async () => {
    const clock = new FakeClock();
    const { store, reopen } = await factory.open(clock);
    await store.admit(admission('m1'));
    return { clock, store, reopen };
  };

  test('admission stores task, message and first entries at once, and announces what it added', async () => {
    const { store } = await factory.open(new FakeClock());
    const admitted = await store.admit(admission('m1'));
    expect(admitted).toMatchObject({ created: true, row: { key: 'm1', consumed: false } });
    expect(admitted.added.map((entry) => [entry.seq, entry.key])).toEqual([
      [1, 'submitted'],
      [2, 'message:m1'],
    ]);
    expect(await store.task('task')).toMatchObject({
      state: 'SUBMITTED',
      statusSeq: 1,
      log: 2,
      transcript: 0,
      data: DATA,
    });
    expect(await store.task('other')).toBeUndefined();
  });

  test('AS-10: a known message writes nothing and shows the row that stands', async () => {
    const { store } = await opened();
    const again = await store.admit({ ...admission('m1', { taskId: 'other' }) });
    expect(again).toMatchObject({ created: false, row: { taskId: 'task' }, added: [] });
    expect(await store.task('other')).toBeUndefined();
    expect(await store.log('task')).toHaveLength(2);
  });

  test('AS-10: of many admissions of one message at the same time, one creates', async () => {
    const { store } = await factory.open(new FakeClock());
    const all = await Promise.all(Array.from({ length: 8 }, () => store.admit(admission('m1'))));
    expect(all.filter((each) => each.created)).toHaveLength(1);
  });

  test('AS-10: a message on its way in is claimed by one of all who use the store, until its time is over or it is given back', async () => {
    const { store, reopen, clock } = await opened();
    const other = await reopen();
    const claims = await Promise.all([store, other, store, other].map((each) => each.claim('m2', 1000)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    const [holder, waiting] = claims[0] || claims[2] ? [store, other] : [other, store];
    await waiting.release('m2');
    expect(await waiting.claim('m2', 1000)).toBe(false);
    expect(await waiting.claim('m3', 1000)).toBe(true);
    await holder.release('m2');
    expect(await waiting.claim('m2', 1000)).toBe(true);
    clock.advance(999);
    expect(await holder.claim('m2', 1000)).toBe(false);
    clock.advance(1);
    expect(await holder.claim('m2', 1000)).toBe(true);
    await other.close();
  });

  test('AS-10: nobody claims a message that is in, and its admission ends whatever claim there was', async () => {
    const { store, reopen } = await opened();
    const other = await reopen();
    expect(await store.claim('m1', 1000)).toBe(false);
    expect(await other.claim('m2', 1000)).toBe(true);
    await store.admit(admission('m2', { first: false }));
    expect(await store.claim('m2', 1000)).toBe(false);
    await other.close();
  });

  test('AS-12: the running tasks of whoever opened them are counted, not those that wait or are over', async () => {
    const { store } = await opened();
    for (const [key, taskId] of Object.entries({ m2: 'waits', m3: 'works', m4: 'ended' })) {
      await store.admit(admission(key, { taskId }));
    }
    await store.write('waits', state('state:0', 'INPUT_REQUIRED'));
    await store.write('works', state('working:1', 'WORKING'));
    await store.write('ended', state('state:0', 'COMPLETED'));
    expect(await store.running('alice')).toBe(2);
    expect(await store.running('bob')).toBe(0);
  });

  test('invariant 2: the log numbers entries without gaps, whoever writes, and keeps one per key', async () => {
    const { store } = await opened();
    await Promise.all(
      Array.from({ length: 10 }, (_, at) => store.write('task', { entries: [note(`n${at}`), note('same')] })),
    );
    const log = await store.log('task');
    expect(log.map((entry) => entry.seq)).toEqual(log.map((_, at) => at + 1));
    expect(log.filter((entry) => entry.key === 'same')).toHaveLength(1);
  });

  test('invariant 2: append returns the stored entries, with those it added told apart', async () => {
    const { store } = await opened();
    await store.write('task', { entries: [note('a', 'first')] });
    const written = await store.write('task', { entries: [note('a', 'second'), note('b')] });
    expect(written.entries.map((entry) => [entry.key, entry.body])).toEqual([
      ['a', { kind: 'note', text: 'first' }],
      ['b', { kind: 'note', text: 'b' }],
    ]);
    expect(written.added.map((entry) => entry.key)).toEqual(['b']);
  });

  test('invariant 1: an effect is saved once; the second write of its key applies nothing and finds it', async () => {
    const { store } = await opened();
    const first = await store.write('task', {
      effect: { key: 'model:1.0', body: { n: 1 } },
      entries: [note('a')],
    });
    const second = await store.write('task', {
      effect: { key: 'model:1.0', body: { n: 2 } },
      entries: [note('b')],
      transcript: [{ key: 't', item: { type: 'assistant', effect: 'model:1.0' } }],
      consumed: ['m1'],
    });
    expect(first).toMatchObject({ applied: true, effect: { n: 1 } });
    expect(second).toMatchObject({ applied: false, effect: { n: 1 }, added: [] });
    expect(await store.log('task')).toHaveLength(3);
    expect((await store.inboxRows(['m1']))[0]?.consumed).toBe(false);
    expect(await store.transcript('task', { after: 0, upTo: 9 })).toEqual([]);
  });

  test('invariant 3: the first terminal state stands; a later one applies nothing and is told', async () => {
    const { store } = await opened();
    const [a, b] = await Promise.all([
      store.write('task', state('state:0', 'COMPLETED')),
      store.write('task', state('cancel', 'CANCELED')),
    ]);
    expect([a.applied, b.applied].sort()).toEqual([false, true]);
    const stands = a.applied ? 'COMPLETED' : 'CANCELED';
    expect([a.task.state, b.task.state]).toEqual([stands, stands]);
    expect((await store.log('task', { kinds: ['state'] })).map((entry) => entry.seq)).toEqual([1, 3]);
  });

  test('invariant 3: nothing is added to a task that has ended, whatever a late writer brings', async () => {
    const { store } = await opened();
    await store.write('task', {
      effect: { key: 'result:1.0.0', body: 'first' },
      ...state('end', 'COMPLETED'),
    });
    const [task, log] = [await store.task('task'), await store.log('task')];
    const late = await store.write('task', {
      effects: [{ key: 'result:1.0.1', body: 'late' }],
      entries: [note('late')],
      transcript: [{ key: 'late', item: { type: 'assistant', effect: 'result:1.0.1' } }],
      blobs: [{ key: 'late', text: 'late' }],
      changes: [{ kind: 'set', name: 'Another' }],
      consumed: ['m1'],
    });
    expect(late).toMatchObject({ applied: false, entries: [], added: [], task: { state: 'COMPLETED' } });
    expect(await store.write('task', { effect: { key: 'other', body: 1 } })).toMatchObject({
      applied: false,
    });
    const held = await store.write('task', { effect: { key: 'result:1.0.0', body: 'second' } });
    expect(held).toMatchObject({ applied: false, effect: 'first' });
    expect([await store.task('task'), await store.log('task')]).toEqual([task, log]);
    expect([...(await store.effects('task', ['result:1.0.1', 'other'])).keys()]).toEqual([]);
    expect(await store.blob('task', 'late')).toBeUndefined();
    expect((await store.inboxRows(['m1']))[0]?.consumed).toBe(false);
    // The commit that ended it finds itself.
    expect((await store.write('task', state('end', 'COMPLETED'))).entries).toHaveLength(1);
  });

  test('invariant 3: a repeated commit finds its entry and does not turn the state back', async () => {
    const { store } = await opened();
    await store.write('task', state('state:0', 'INPUT_REQUIRED'));
    await store.write('task', {
      entries: [
        {
          key: 'working:2',
          exchange: 2,
          body: { kind: 'state', state: 'WORKING', subState: null, text: null, questions: [] },
        },
      ],
      state: { state: 'WORKING', subState: null, entry: 'working:2' },
    });
    const repeated = await store.write('task', state('state:0', 'INPUT_REQUIRED'));
    expect(repeated.task).toMatchObject({ state: 'WORKING', statusSeq: 4 });
    expect(repeated.entries.map((entry) => entry.seq)).toEqual([3]);
  });

  test('status times never run backwards, even when the clock does', async () => {
    const { store, clock } = await opened();
    clock.advance(60_000);
    await store.write('task', { entries: [note('a')] });
    clock.set(clock.now() - 30_000);
    await store.write('task', { entries: [note('b')] });
    const times = (await store.log('task')).map((entry) => entry.at);
    expect(times).toEqual([...times].sort());
  });

  test('the log is read from a cursor, by kind, and its newest entries oldest first', async () => {
    const { store } = await opened();
    await store.write('task', { entries: ['a', 'b', 'c'].map((key) => note(key)) });
    const keys = async (query: Parameters<TaskStore['log']>[1]) =>
      (await store.log('task', query)).map((entry) => entry.key);
    expect(await keys({ after: 3 })).toEqual(['b', 'c']);
    expect(await keys({ after: 2, upTo: 4 })).toEqual(['a', 'b']);
    expect(await keys({ kinds: ['note'], last: 2 })).toEqual(['b', 'c']);
    expect(await keys({ kinds: ['message'] })).toEqual(['message:m1']);
  });

  test('transcript rows are numbered by the store and kept once per key', async () => {
    const { store } = await opened();
    const item = { type: 'message' as const, inbox: 'm1' };
    await store.write('task', { transcript: [{ key: 'a', item }] });
    const written = await store.write('task', {
      transcript: [
        { key: 'a', item },
        { key: 'b', item: { ...item, answers: 'q' } },
      ],
    });
    expect(written.task.transcript).toBe(2);
    expect(await store.transcript('task', { after: 1, upTo: 2 })).toEqual([
      { n: 2, key: 'b', item: { ...item, answers: 'q' } },
    ]);
  });

  test('DU-2: unconsumed messages of tasks that still run are found, oldest first', async () => {
    const { store, clock } = await opened();
    clock.advance(1000);
    await store.admit(admission('m2', { first: false }));
    await store.admit(admission('x1', { taskId: 'ended' }));
    await store.write('ended', state('state:0', 'COMPLETED'));
    expect((await store.unconsumed(10)).map((row) => row.key)).toEqual(['m1', 'm2']);
    await store.write('task', { consumed: ['m1'] });
    expect((await store.unconsumed(10)).map((row) => row.key)).toEqual(['m2']);
  });

  test('inbox rows come in the order asked for, unknown ones left out', async () => {
    const { store } = await opened();
    await store.admit(admission('m2', { first: false }));
    expect((await store.inboxRows(['m2', 'nope', 'm1'])).map((row) => row.key)).toEqual(['m2', 'm1']);
  });

  test('large texts are kept by reference, the first under a key stands', async () => {
    const { store } = await opened();
    const text = 'ä'.repeat(3_000_000);
    await store.write('task', { blobs: [{ key: 'r', text }] });
    await store.write('task', { blobs: [{ key: 'r', text: 'other' }] });
    expect(await store.blob('task', 'r')).toBe(text);
    expect(await store.blob('task', 'nope')).toBeUndefined();
  });

  test('a write to a task that is not there says so', async () => {
    const { store } = await opened();
    const failure = store.write('nope', { entries: [note('a')] });
    await expect(failure).rejects.toMatchObject({ code: 'task.not_found' });
    await expect(failure).rejects.toBeInstanceOf(HarnessError);
  });

  test('SR-7, DU-13: everything is there after a restart, under the same identity', async () => {
    const { store, reopen } = await opened();
    await store.write('task', {
      ...state('state:0', 'INPUT_REQUIRED'),
      changes: [{ kind: 'set', name: 'Another' }],
    });
    const { identity } = store;
    const before = [await store.task('task'), await store.log('task')];
    await store.close();
    const again = await reopen();
    expect(identity).toMatch(/^[0-9a-f-]{36}$/);
    expect(again.identity).toBe(identity);
    expect([await again.task('task'), await again.log('task')]).toEqual(before);
    await again.close();
  });

  test('any JSON goes in and comes out as it was', async () => {
    const { store } = await opened();
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), fc.string({ unit: 'binary' }), async (body, text) => {
        const key = `e${++count}`;
        const value = JSON.parse(JSON.stringify(body));
        await store.write('task', {
          effect: { key, body: value },
          entries: [note(key, text.toWellFormed())],
        });
        expect((await store.effects('task', [key])).get(key)).toEqual(value);
        const [entry] = await store.log('task', { last: 1 });
        expect(entry?.body).toEqual({ kind: 'note', text: text.toWellFormed() });
      }),
      { numRuns: 50 },
    );
  });
}
