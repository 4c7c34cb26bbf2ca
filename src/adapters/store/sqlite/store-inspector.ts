import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { HarnessError } from '../../../core/base/index.ts';
import type { InboxRow, LogEntry, TaskRow } from '../../../core/persistence/index.ts';
import { openFailure } from './open-failure.ts';
import { toEntry, toInbox, toTask } from './rows.ts';
import { APPLICATION_ID, MIGRATIONS } from './schema.ts';

type Rows<T extends (row: never) => unknown> = Parameters<T>[0];

/** Longer than a commit takes; shorter than a person waits. */
const BUSY_MS = 3_000;

/**
 * What a store holds, for its administrator: read beside whoever writes it, and never changed. Tasks of all
 * participants are seen.
 */
export class StoreInspector implements Disposable {
  readonly #database: Database.Database;

  private constructor(database: Database.Database) {
    this.#database = database;
  }

  /**
   * @throws HarnessError `store_unavailable` (none there, or it cannot be read), `store.foreign` (not ours, or of an
   *   older program), `store.schema_newer`.
   */
  static open(path: string): StoreInspector {
    if (!StoreInspector.exists(path)) {
      throw new HarnessError('store_unavailable', `there is no store at ${path} yet; "serve" makes it`);
    }
    let database: Database.Database | undefined;
    try {
      database = new Database(path, { readonly: true, timeout: BUSY_MS });
      assertReadable(database, path);
      return new StoreInspector(database);
    } catch (error) {
      database?.close();
      throw error instanceof HarnessError ? error : openFailure(path, error);
    }
  }

  static exists(path: string): boolean {
    return existsSync(path);
  }

  /** The newest change first. */
  tasks(): TaskRow[] {
    return this.#database
      .prepare<[], Rows<typeof toTask>>('select * from tasks order by updated_at desc, id')
      .all()
      .map(toTask);
  }

  task(id: string): TaskRow | undefined {
    const row = this.#database
      .prepare<[string], Rows<typeof toTask>>('select * from tasks where id = ?')
      .get(id);
    return row && toTask(row);
  }

  /** Oldest first. */
  log(taskId: string): LogEntry[] {
    return this.#database
      .prepare<[string], Rows<typeof toEntry>>('select * from events where task_id = ? order by seq')
      .all(taskId)
      .map(toEntry);
  }

  inboxRow(key: string): InboxRow | undefined {
    const row = this.#database
      .prepare<[string], Rows<typeof toInbox>>('select * from inbox where key = ?')
      .get(key);
    return row && toInbox(row);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

function assertReadable(database: Database.Database, path: string): void {
  if (database.pragma('application_id', { simple: true }) !== APPLICATION_ID) {
    throw new HarnessError(
      'store.foreign',
      `${path} is no store of this program; set store.sqlite_path to one`,
    );
  }
  const version = Number(database.pragma('user_version', { simple: true }));
  if (version > MIGRATIONS.length) {
    throw new HarnessError(
      'store.schema_newer',
      `the store ${path} has schema version ${version}, this program knows ${MIGRATIONS.length}; use a newer program`,
    );
  }
}
