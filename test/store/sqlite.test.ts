import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { SqliteStore } from '../../src/adapters/store/sqlite/index.ts';
import { testFolder } from '../support/harness.ts';
import { type StoreFactory, storeContract } from './contract.ts';
import { listingContract } from './listing-contract.ts';
import { VERSION_1 } from './version-1.ts';

const factory: StoreFactory = {
  async open(clock) {
    const path = join(testFolder(), 'deep', 'store.db');
    return { store: SqliteStore.open(path, clock), reopen: async () => SqliteStore.open(path, clock) };
  },
};

describe('the SQLite store keeps the contract', () => {
  storeContract(factory);
  listingContract(factory);
});

test('SR-1: the file and its folder are readable by their owner alone', async () => {
  const folder = join(testFolder(), 'new');
  const store = SqliteStore.open(join(folder, 'store.db'));
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const name of ['store.db', 'store.db-wal'])
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  await store.close();
});

test('SR-7: commits reach the disk before they are acknowledged', () => {
  const path = join(testFolder(), 'store.db');
  const store = SqliteStore.open(path);
  const database = new Database(path);
  expect(database.pragma('journal_mode', { simple: true })).toBe('wal');
  database.close();
  return store.close();
});

test('SR-7: a claim does not wait for the disk, and what is written after it does', async () => {
  const store = SqliteStore.open(join(testFolder(), 'store.db'));
  const pragma = vi.spyOn(Database.prototype, 'pragma');
  onTestFinished(() => pragma.mockRestore());
  await store.claim('m1', 1000);
  await store.release('m1');
  const [normal, full] = [['synchronous = NORMAL'], ['synchronous = FULL']];
  expect(pragma.mock.calls).toEqual([normal, full, normal, full]);
  await store.close();
  await expect(store.claim('m1', 1000)).rejects.toMatchObject({ code: 'store.write' });
});

test.each([
  ['a store of the Python tiny-harness 0.9', 'create table inbox_audit (id text)'],
  ['the database of a Temporal server', 'create table executions (id text)'],
  ['a database of another program', 'create table anything (id text)'],
])('%s is refused by name and left as it was', (what, sql) => {
  const path = join(testFolder(), 'store.db');
  const database = new Database(path);
  database.exec(sql);
  database.close();
  const before = statSync(path).size;
  expect(() => SqliteStore.open(path)).toThrow(new RegExp(`is ${what}; nothing was written`));
  expect(statSync(path).size).toBe(before);
});

test('a store of a newer program is refused', async () => {
  const path = join(testFolder(), 'store.db');
  await SqliteStore.open(path).close();
  const database = new Database(path);
  database.pragma('user_version = 99');
  database.close();
  expect(() => SqliteStore.open(path)).toThrow(/schema version 99/);
});

test('a store of version 1 becomes one of today: its tasks are listed, for whom they name, by their state', async () => {
  const path = join(testFolder(), 'store.db');
  const database = new Database(path);
  database.exec(VERSION_1);
  database.close();
  const store = SqliteStore.open(path);
  const list = async (reader: string) =>
    (await store.tasks({ reader, limit: 50 })).tasks.map(({ id, state }) => [id, state]);
  expect(await list('alice')).toEqual([
    ['new', 'WORKING'],
    ['old', 'COMPLETED'],
  ]);
  expect(await list('bob')).toEqual([['new', 'WORKING']]);
  expect(await list('mallory')).toEqual([]);
  const { tasks } = await store.tasks({ reader: 'alice', contextId: 'c-old', limit: 50 });
  expect(tasks.map((task) => task.id)).toEqual(['old']);
  expect(store.identity).toBe('the-identity');
  await store.close();
  await SqliteStore.open(path).close();
});

test('a file that is no database, and a folder that is none, give one clear line', () => {
  const folder = testFolder();
  writeFileSync(
    join(folder, 'text'),
    'this is not a database, whatever it is called, and it is long enough to be read',
  );
  expect(() => SqliteStore.open(join(folder, 'text'))).toThrow(/cannot open the store .*not a database/);
  expect(() => SqliteStore.open(join(folder, 'text', 'store.db'))).toThrow(/cannot open the store/);
});
