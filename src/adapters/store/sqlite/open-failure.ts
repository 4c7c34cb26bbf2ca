import { HarnessError, messageOf } from '../../../core/base/index.ts';

/** The error of a file that cannot be opened, with what to do. Nothing of the file is changed by it. */
export function openFailure(path: string, error: unknown): HarnessError {
  return new HarnessError(
    'store_unavailable',
    `cannot open the store ${path}: ${messageOf(error)}; ${adviceFor(String((error as { code?: unknown }).code))}`,
    { cause: error },
  );
}

function adviceFor(code: string): string {
  if (/^SQLITE_BUSY|^SQLITE_LOCKED/.test(code)) {
    return 'another process holds it locked: end that one (a backup or a database shell, say) and start again';
  }
  if (/^SQLITE_NOTADB|^SQLITE_CORRUPT/.test(code)) {
    return 'the file is damaged, and was left as it is: put a backup in its place, or move it away (with its -wal and -shm) to start with an empty store';
  }
  if (/^SQLITE_FULL|^ENOSPC|^EDQUOT/.test(code)) return 'make room on the disk and start again';
  if (/^SQLITE_IOERR/.test(code)) return 'look for a full or failing disk';
  return 'set store.sqlite_path to a file in a folder that can be written';
}
