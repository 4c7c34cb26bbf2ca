import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { HarnessError } from '../../../core/base/index.ts';
import type { TemporalCli } from './find-cli.ts';

/** The files of one database. The server makes the first three, and only the server: it refuses an empty one. */
export function databaseFiles(path: string) {
  return {
    database: path,
    wal: `${path}-wal`,
    shm: `${path}-shm`,
    version: `${path}.version`,
    owner: `${path}.owner`,
    lock: `${path}.lock`,
    holder: `${path}.lock.pid`,
    log: `${path}.log`,
  };
}

/** Makes the folder of a database, for its owner only. One that exists is left as it is: it may hold other things. */
export async function makeDatabaseFolder(path: string): Promise<void> {
  const missing: string[] = [];
  for (let folder = dirname(path); !existsSync(folder); folder = dirname(folder)) missing.unshift(folder);
  // One by one: `recursive` never returns (Node 24) where the system answers ENOENT for a folder that exists.
  for (const folder of missing) {
    await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error; // Another process may have been faster.
    });
  }
}

/**
 * Records the CLI's version beside the database before anything is written to it (EM-3).
 *
 * @throws HarnessError `temporal.start_failed` when the database was written by another version.
 */
export async function claimVersion(path: string, cli: Pick<TemporalCli, 'path' | 'version'>): Promise<void> {
  const files = databaseFiles(path);
  const exists = await stat(path).then(
    () => true,
    () => false,
  );
  const recorded = exists ? (await readFile(files.version, 'utf8').catch(() => '')).trim() : '';
  if (recorded !== '' && recorded !== cli.version) {
    throw new HarnessError(
      'temporal.start_failed',
      `The Temporal database ${path} was written by version ${recorded} of the Temporal CLI, and ${cli.path} is version ${cli.version}: its tables are not migrated. Set temporal.embedded.binary_path to a ${recorded} CLI, or move ${path} away (with its -wal, -shm and .version files) to start with a fresh one; tasks that are still running are then ended.`,
      { details: { database: path, recorded, found: cli.version } },
    );
  }
  await writeFile(files.version, `${cli.version}\n`, { mode: 0o600 });
}

/** For files that an earlier program has left readable: new ones are made `0600`. */
export async function closeDatabaseFiles(path: string): Promise<void> {
  const { database, wal, shm } = databaseFiles(path);
  // The server may remove a -wal or -shm at any time.
  for (const file of [database, wal, shm]) await chmod(file, 0o600).catch(() => {});
}
