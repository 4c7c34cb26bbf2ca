import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Participant, TaskState } from '../../src/core/loop/index.ts';
import type { TaskListQuery, TaskPlace, TaskStore } from '../../src/core/persistence/index.ts';
import { FakeClock } from '../../src/testing/index.ts';
import { DATA, type StoreFactory } from './contract.ts';

interface Told {
  readonly id: string;
  readonly people?: readonly string[];
  readonly contextId?: string;
}

function people(names: readonly string[]): Participant[] {
  return names.map((id) => ({ id, kind: 'human', role: 'watcher', displayName: id }));
}

async function open(store: TaskStore, { id, people: names = ['alice'], contextId = 'context' }: Told) {
  const key = `first of ${id}`;
  await store.admit({
    inbox: {
      key,
      taskId: id,
      sender: 'alice',
      senderKind: 'human',
      messageId: key,
      bodyHash: key,
      message: { parts: [{ kind: 'text', text: key }], extensions: [], referenceTaskIds: [] },
      mail: { key, messageId: key, sender: 'alice', role: 'reporter', kind: 'human' },
    },
    task: { id, contextId, reporter: 'alice', data: { ...DATA, participants: people(names) } },
    entries: [
      {
        key: 'submitted',
        exchange: 0,
        body: { kind: 'state', state: 'SUBMITTED', subState: null, text: null, questions: [] },
      },
    ],
  });
}

async function turn(store: TaskStore, id: string, state: TaskState, key: string = state): Promise<void> {
  await store.write(id, {
    entries: [
      { key, exchange: 1, body: { kind: 'state', state, subState: null, text: null, questions: [] } },
    ],
    state: { state, subState: null, entry: key },
  });
}

/** Every page of a list, as ids. */
async function pages(store: TaskStore, query: Omit<TaskListQuery, 'after'>): Promise<string[][]> {
  const all: string[][] = [];
  let after: TaskPlace | undefined;
  do {
    const list = await store.tasks({ ...query, ...(after ? { after } : {}) });
    all.push(list.tasks.map((task) => task.id));
    after = list.next;
  } while (after !== undefined);
  return all;
}

/** What every store must do when it lists tasks (AS-8). */
export function listingContract(factory: StoreFactory): void {
  const opened = async () => {
    const clock = new FakeClock();
    const { store } = await factory.open(clock);
    return {
      clock,
      store,
      ids: async (query: Partial<TaskListQuery> = {}) =>
        (await store.tasks({ reader: 'alice', limit: 50, ...query })).tasks.map((task) => task.id),
    };
  };

  test('AS-8: the task whose state was set last comes first, whatever else happened to the others', async () => {
    const { store, clock, ids } = await opened();
    for (const id of ['a', 'b', 'c']) {
      await open(store, { id });
      clock.advance(1000);
    }
    expect(await ids()).toEqual(['c', 'b', 'a']);
    await turn(store, 'a', 'WORKING');
    clock.advance(1000);
    await store.write('b', { entries: [{ key: 'n', exchange: 1, body: { kind: 'note', text: 'n' } }] });
    expect(await ids()).toEqual(['a', 'c', 'b']);
    const { tasks, total } = await store.tasks({ reader: 'alice', limit: 1 });
    expect([tasks, total]).toEqual([[await store.task('a')], 3]);
  });

  test('AS-8: a reader sees the tasks that name them, as long as they do', async () => {
    const { store, ids } = await opened();
    await open(store, { id: 'a', people: ['alice', 'bob'] });
    await open(store, { id: 'b', people: ['bob'] });
    const seen = async () => [await ids(), await ids({ reader: 'bob' }), await ids({ reader: 'carol' })];
    expect(await seen()).toEqual([['a'], ['b', 'a'], []]);
    await store.write('a', { changes: [{ kind: 'set', participants: people(['alice', 'carol']) }] });
    expect(await seen()).toEqual([['a'], ['b'], ['a']]);
    await store.write('a', { changes: [{ kind: 'set', participants: people(['carol']) }] });
    expect(await seen()).toEqual([[], ['b'], ['a']]);
  });

  test('AS-8: filters by context, by state and by when it was set, alone and together', async () => {
    const { store, clock, ids } = await opened();
    const start = clock.now();
    await open(store, { id: 'a', contextId: 'x' });
    await open(store, { id: 'b', contextId: 'y' });
    await open(store, { id: 'c', contextId: 'y' });
    clock.advance(5000);
    await turn(store, 'b', 'WORKING');
    const since = (after: number) => new Date(start + after).toISOString();
    expect(await ids({ contextId: 'y' })).toEqual(['b', 'c']);
    expect(await ids({ state: 'SUBMITTED' })).toEqual(['c', 'a']);
    expect(await ids({ since: since(5000) })).toEqual(['b']);
    expect(await ids({ since: since(5001) })).toEqual([]);
    expect(await ids({ contextId: 'y', state: 'SUBMITTED', since: since(0) })).toEqual(['c']);
    expect((await store.tasks({ reader: 'alice', contextId: 'y', limit: 1 })).total).toBe(2);
  });

  test('AS-8: a first terminal state is the one that is listed', async () => {
    const { store, ids } = await opened();
    await open(store, { id: 'a' });
    await turn(store, 'a', 'CANCELED');
    await turn(store, 'a', 'COMPLETED');
    expect(await ids({ state: 'CANCELED' })).toEqual(['a']);
    expect(await ids({ state: 'COMPLETED' })).toEqual([]);
  });

  test('AS-8: pages of any size show every task once, in one order, and say how many there are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 2 }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 5 }),
        async (delays, limit) => {
          const { store, clock, ids } = await opened();
          for (const [at, delay] of delays.entries()) {
            clock.advance(delay);
            await open(store, { id: `t${at}` });
          }
          const all = await pages(store, { reader: 'alice', limit });
          expect(all.flat()).toEqual(await ids());
          expect(new Set(all.flat()).size).toBe(delays.length);
          for (const page of all.slice(0, -1)) expect(page).toHaveLength(limit);
          expect((await store.tasks({ reader: 'alice', limit })).total).toBe(delays.length);
          await store.close();
        },
      ),
      { numRuns: 25 },
    );
  });
}
