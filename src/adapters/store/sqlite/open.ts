import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { HarnessError } from '../../../core/base/index.ts';
import { openFailure } from './open-failure.ts';
import { APPLICATION_ID, MIGRATIONS } from './schema.ts';

/**
 * Opens the file, made with its folder and readable by its owner alone when it is not there, and brings its schema up
 * to date under the file's own write lock.
 *
 * @throws HarnessError `store.foreign` (not our file), `store.schema_newer`, `store_unavailable`.
 */
export function openDatabase(path: string): { database: Database.Database; identity: string } {
  try {
    makeFolder(dirname(path));
    closeSync(openSync(path, 'a', 0o600));
    const database = new Database(path, { timeout: 10_000 });
    tolerateRollback(database);
    try {
      assertOurs(database, path);
      database.pragma('journal_mode = WAL');
      // An acknowledged message survives a power cut (SR-7).
      database.pragma('synchronous = FULL');
      database.pragma('foreign_keys = ON');
      return { database, identity: migrate(database, path) };
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    if (error instanceof HarnessError) throw error;
    throw openFailure(path, error);
  }
}

/**
 * A full disk makes SQLite roll back by itself; the query builder's own `rollback` then fails, and would be the error
 * that is reported instead of the disk.
 */
function tolerateRollback(database: Database.Database): void {
  const prepare = database.prepare.bind(database) as (sql: string) => Database.Statement;
  const patched = (sql: string): Database.Statement => {
    const statement = prepare(sql);
    if (sql === 'rollback') {
      const run = statement.run.bind(statement);
      statement.run = () => (database.inTransaction ? run() : { changes: 0, lastInsertRowid: 0 });
    }
    return statement;
  };
  database.prepare = patched as typeof database.prepare;
}

/**
 * Makes a folder with those above it. Not by `recursive`, which never returns (Node 24) where the system answers ENOENT
 * for a folder that exists, as below /proc.
 */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have been faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function assertOurs(database: Database.Database, path: string): void {
  const id = database.pragma('application_id', { simple: true });
  if (id === APPLICATION_ID) return;
  const tables = database
    .prepare<[], { name: string }>("select name from sqlite_master where type = 'table'")
    .all();
  if (tables.length === 0) return;
  const names = new Set(tables.map((table) => table.name));
  const what = names.has('inbox_audit')
    ? 'a store of the Python tiny-harness 0.9'
    : names.has('executions') || names.has('history_node')
      ? 'the database of a Temporal server'
      : 'a database of another program';
  throw new HarnessError(
    'store.foreign',
    `${path} is ${what}; nothing was written. Set store.sqlite_path to another file.`,
  );
}

function migrate(database: Database.Database, path: string): string {
  return database
    .transaction(() => {
      const version = Number(database.pragma('user_version', { simple: true }));
      if (version > MIGRATIONS.length) {
        throw new HarnessError(
          'store.schema_newer',
          `the store ${path} has schema version ${version}, this program knows ${MIGRATIONS.length}; use a newer program`,
        );
      }
      for (const migration of MIGRATIONS.slice(version)) database.exec(migration);
      database.pragma(`user_version = ${MIGRATIONS.length}`);
      database.pragma(`application_id = ${APPLICATION_ID}`);
      database.prepare("insert into meta values ('identity', ?) on conflict do nothing").run(randomUUID());
      const row = database
        .prepare<[], { value: string }>("select value from meta where key = 'identity'")
        .get();
      return row?.value ?? '';
    })
    .immediate();
}
