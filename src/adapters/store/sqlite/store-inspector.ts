import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { HarnessError } from '../../../core/base/index.ts';
import { questionSeq } from '../../../core/extensions/index.ts';
import type { InboxRow, LogEntry, QuestionRecord, TaskRow } from '../../../core/persistence/index.ts';
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

  count(): number {
    return (
      this.#database.prepare<[], { total: number }>('select count(*) as total from tasks').get()?.total ?? 0
    );
  }

  /**
   * A page of tasks, the newest change first, and whether there are more. `after` is the last task of the page before.
   *
   * @throws HarnessError `task.not_found` when there is no such task.
   */
  tasks(page: {
    readonly limit: number;
    readonly after?: string | undefined;
    readonly wanted?: (task: TaskRow) => boolean;
  }): { readonly tasks: readonly TaskRow[]; readonly more: boolean } {
    const last = page.after === undefined ? undefined : this.task(page.after);
    if (page.after !== undefined && last === undefined) {
      throw new HarnessError('task.not_found', `there is no task ${page.after} in this store`);
    }
    const rows = this.#database
      .prepare<{ at: string | null; id: string | null }, Rows<typeof toTask>>(
        `select * from tasks where :at is null or updated_at < :at or (updated_at = :at and id > :id)
         order by updated_at desc, id`,
      )
      .iterate({ at: last?.updatedAt ?? null, id: last?.id ?? null });
    const tasks: TaskRow[] = [];
    for (const row of rows) {
      const task = toTask(row);
      if (page.wanted?.(task) === false) continue;
      if (tasks.length === page.limit) return { tasks, more: true };
      tasks.push(task);
    }
    return { tasks, more: false };
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

  /** What a task waits for, as its status shows it, by id. */
  openQuestions({ id, statusSeq }: TaskRow): { readonly id: string; readonly question: QuestionRecord }[] {
    const entry = (seq: number) => {
      const row = this.#database
        .prepare<[string, number], Rows<typeof toEntry>>('select * from events where task_id = ? and seq = ?')
        .get(id, seq);
      return row && toEntry(row).body;
    };
    const status = entry(statusSeq);
    return (status?.kind === 'state' ? status.questions : []).flatMap((each) => {
      const body = entry(questionSeq(id, each) ?? 0);
      return body?.kind === 'question' ? [{ id: each, question: body.question }] : [];
    });
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
