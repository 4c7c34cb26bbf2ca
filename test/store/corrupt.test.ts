import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { SqliteStore, StoreInspector } from '../../src/adapters/store/sqlite/index.ts';
import { testFolder } from '../support/harness.ts';
import { DATA } from './contract.ts';

/** A store with one record of each kind, one of which was changed by another hand. */
async function damaged(sql: string) {
  const path = join(testFolder(), 'store.db');
  const store = SqliteStore.open(path);
  await store.admit({
    inbox: {
      key: 'm1',
      taskId: 'task',
      sender: 'alice',
      senderKind: 'human',
      messageId: 'm1',
      bodyHash: '',
      message: { parts: [{ kind: 'text', text: 'go' }], extensions: [], referenceTaskIds: [] },
      mail: { key: 'm1', messageId: 'm1', sender: 'alice', role: 'reporter', kind: 'human' },
    },
    task: { id: 'task', contextId: 'context', reporter: 'alice', data: DATA },
    entries: [{ key: 'message:m1', exchange: 1, body: { kind: 'message', inbox: 'm1' } }],
  });
  await store.write('task', {
    effect: { key: 'model:1.0', body: { n: 1 } },
    transcript: [{ key: 't1', item: { type: 'message', inbox: 'm1' } }],
  });
  const database = new Database(path);
  database.exec(sql);
  database.close();
  return { path, store };
}

test.each<readonly [string, string, (store: SqliteStore) => Promise<unknown>, string, RegExp]>([
  [
    'a state that there is none of',
    "update tasks set state = 'PAUSED'",
    (store) => store.task('task'),
    'tasks task',
    /it: Invalid option/,
  ],
  [
    'a participant without a role',
    "update tasks set data = json_remove(data, '$.participants[0].role')",
    (store) => store.tasks({ reader: 'alice', limit: 1 }),
    'tasks task',
    /participants\.0\.role: Invalid option/,
  ],
  [
    'half of a text',
    'update events set body = substr(body, 1, 9)',
    (store) => store.log('task'),
    'events task 1',
    /it is not JSON/,
  ],
  [
    'an entry of an unknown kind',
    `update events set body = '{"kind":"rumour"}'`,
    (store) => store.log('task'),
    'events task 1',
    /kind: Invalid/,
  ],
  [
    'a message without parts',
    "update inbox set message = '{}'",
    (store) => store.inboxRows(['m1']),
    'inbox m1',
    /parts: Invalid input/,
  ],
  [
    'mail that is a list',
    "update inbox set mail = '[]'",
    (store) => store.unconsumed(1),
    'inbox m1',
    /it: Invalid input/,
  ],
  [
    'a row that refers to nothing',
    `update transcript set item = '{"type":"message"}'`,
    (store) => store.transcript('task', { after: 0, upTo: 9 }),
    'transcript task 1',
    /inbox: Invalid input/,
  ],
  [
    'an effect that is not JSON',
    "update effects set body = ''",
    (store) => store.effects('task', ['model:1.0']),
    'effects task model:1.0',
    /it is not JSON/,
  ],
  [
    'the task of a write',
    `update tasks set data = 'null'`,
    (store) => store.write('task', {}),
    'tasks task',
    /it: Invalid input/,
  ],
])('SR-2: %s is an error that names the record, and is not read', async (_, sql, read, place, why) => {
  const { store } = await damaged(sql);
  const [table = '', ...id] = place.split(' ');

  const error = await read(store).catch((thrown: unknown) => thrown);

  expect(error).toMatchObject({
    code: 'store.corrupt',
    retryable: false,
    details: { table, id: id.join(' ') },
    message: expect.stringMatching(why),
  });
  await store.close();
});

test('SR-2: what a record has beyond its schema stays in it', async () => {
  const { store } = await damaged("update events set body = json_set(body, '$.later', json('[1]'))");
  expect((await store.log('task'))[0]?.body).toEqual({ kind: 'message', inbox: 'm1', later: [1] });
  await store.close();
});

test('SR-2: an administrator is told the same', async () => {
  const { path, store } = await damaged("update tasks set state = 'PAUSED'");
  using inspector = StoreInspector.open(path);
  expect(() => inspector.task('task')).toThrow(/record task of the table tasks is damaged/);
  await store.close();
});
