import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { HarnessError } from '../../../core/base/index.ts';
import { CLI_NAME } from './platform.ts';

/** A fill that is older than this was killed: its folder is removed. */
const ABANDONED_FILL_MS = 24 * 3600_000;

/** A program that will be run may only lie where nobody else can put one. */
export interface CacheFolder {
  /** Where the binary is, or will be. */
  readonly binary: string;
  /**
   * Runs `fill` with an empty folder of its own; the executable whose path it returns is moved into place in one step, so
   * that several processes may fill the cache at once. The folder is removed whatever happens.
   */
  fill(fill: (folder: string) => Promise<string>): Promise<void>;
}

/** The user cache: `downloadDir`, else `$XDG_CACHE_HOME` or `~/.cache` with `tiny-harness/temporal` (EM-2). */
export function cachePath(downloadDir: string | undefined, env: NodeJS.ProcessEnv): string {
  if (downloadDir !== undefined) return resolve(downloadDir);
  const base = env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache');
  return join(base, 'tiny-harness', 'temporal');
}

/**
 * Makes the folder (`0700`) when it is missing.
 *
 * @throws HarnessError `temporal.binary_missing` when another user owns it, or group or others can write it.
 */
export async function openCacheFolder(path: string, isDefault: boolean): Promise<CacheFolder> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new HarnessError(
      'temporal.binary_missing',
      `The cache folder ${path} cannot be made: ${String(cause)}`,
      { cause },
    );
  }
  // In the default place the folder above is ours too: whoever can write that one can swap this one.
  for (const folder of isDefault ? [dirname(path), path] : [path]) await assertPrivate(folder);
  const binary = join(path, CLI_NAME);
  await assertPrivate(binary);
  return {
    binary,
    async fill(fill) {
      await removeAbandoned(path);
      const folder = await mkdtemp(join(path, 'fill-'));
      try {
        const found = await fill(folder);
        await rename(found, binary);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

async function assertPrivate(path: string): Promise<void> {
  const uid = process.getuid?.();
  if (uid === undefined) return; // Windows: the profile folder is private by its access list.
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return;
  const problem =
    found.uid !== uid
      ? `belongs to user ${found.uid}, not to the user of this process (${uid})`
      : (found.mode & 0o022) !== 0
        ? `can be written by others (mode ${(found.mode & 0o777).toString(8)})`
        : undefined;
  if (problem === undefined) return;
  throw new HarnessError(
    'temporal.binary_missing',
    `The cache ${path} ${problem}: a program there is not run. Remove it, run "chmod go-w" on it, or set temporal.embedded.download_dir or temporal.embedded.binary_path.`,
    { details: { path } },
  );
}

async function removeAbandoned(path: string): Promise<void> {
  for (const name of await readdir(path)) {
    if (!name.startsWith('fill-')) continue;
    const folder = join(path, name);
    const found = await stat(folder).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > ABANDONED_FILL_MS)
      await rm(folder, { recursive: true, force: true });
  }
}
