import { closeSync, openSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { HarnessError, messageOf } from '../../../core/base/index.ts';
import { databaseFiles, makeDatabaseFolder } from './database-files.ts';
import { isProcessAlive } from './process-alive.ts';

/** The right to run a server on a database file. Held until it is released, or until the process is gone. */
export interface DatabaseLock {
  /** The locked database. */
  readonly path: string;
  /** Lets another one in. To be called when the server is gone; may be called again. */
  release(): void;
}

/** The locks of this process: behind a well-known symbol, so that two copies of the package see one another. */
const KEY = Symbol.for('tiny-harness.temporal-locks');

function held(): Set<string> {
  const scope = globalThis as typeof globalThis & { [KEY]?: Set<string> };
  scope[KEY] ??= new Set();
  return scope[KEY];
}

/**
 * Takes a database for this process alone (EM-3): two servers on one file destroy it.
 *
 * 1. The lock is an exclusive SQLite lock on `<database>.lock`, so the kernel lets go of it however the process ends.
 * 2. The lock file stays: one that is removed while somebody opens it would be locked by two.
 * 3. This process opens the lock file only through SQLite: closing any other handle would drop the lock. Who holds it
 *    is therefore written beside it, and is a hint for a person, never a reason to go on.
 *
 * @throws HarnessError `temporal.start_failed` at once when it is held, naming the holder.
 */
export async function lockDatabase(path: string): Promise<DatabaseLock> {
  const files = databaseFiles(path);
  let real: string;
  try {
    await makeDatabaseFolder(path);
    createPrivately(files.lock);
    real = realpathSync(files.lock);
  } catch (cause) {
    throw refused(`its folder cannot be used: ${messageOf(cause)}`, cause);
  }
  if (held().has(real)) throw inUse(path, process.pid);
  const database = exclusively(path, files.lock, files.holder);
  held().add(real);
  try {
    writeFileSync(files.holder, `${process.pid}\n`, { mode: 0o600 });
  } catch {
    // A full disk is reported by what cannot do without it.
  }
  return {
    path,
    release() {
      if (!database.open) return;
      database.close();
      held().delete(real);
    },
  };
}

/** SQLite would make it readable for all. */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'ax', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function exclusively(path: string, lockFile: string, holderFile: string): Database.Database {
  let database: Database.Database | undefined;
  try {
    database = new Database(lockFile, { timeout: 0 });
    // Nothing is ever written to it, so there is no journal.
    database.pragma('journal_mode = OFF');
    database.exec('begin exclusive');
    return database;
  } catch (cause) {
    database?.close();
    if ((cause as { code?: string }).code?.startsWith('SQLITE_BUSY')) throw inUse(path, holderOf(holderFile));
    throw refused(`its lock ${lockFile} cannot be taken: ${messageOf(cause)}`, cause);
  }
}

function holderOf(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    return Number.isInteger(pid) && pid > 0 && isProcessAlive(pid) ? pid : undefined;
  } catch {
    return undefined;
  }
}

function inUse(path: string, holder: number | undefined): HarnessError {
  return new HarnessError(
    'temporal.start_failed',
    `The Temporal database ${path} is in use by ${holder === undefined ? 'another process' : `process ${holder}`}. Stop that one, or set another temporal.embedded.database_path.`,
    { details: { database: path, ...(holder === undefined ? {} : { holder }) } },
  );
}

function refused(what: string, cause: unknown): HarnessError {
  return new HarnessError(
    'temporal.start_failed',
    `The embedded Temporal server did not start: ${what}. Set temporal.embedded.database_path to a file in a folder that can be written.`,
    { cause },
  );
}
