import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const PACKAGE = 'a2a-sdk==1.3.*';
const FOLDER = fileURLToPath(new URL('../../node_modules/.cache/a2a-python-1.3', import.meta.url));
const PYTHON =
  process.platform === 'win32' ? join(FOLDER, 'Scripts', 'python.exe') : join(FOLDER, 'bin', 'python');
/** Written last: a folder without it is one whose making was cut short. */
const COMPLETE = join(FOLDER, 'complete');

/**
 * A Python with the official A2A client, made once and kept in `node_modules/.cache`.
 *
 * @returns its path, or why there is none.
 */
export async function pythonWithClient(): Promise<{ python: string } | { missing: string }> {
  if (existsSync(COMPLETE)) return { python: PYTHON };
  try {
    await run('python3', ['-c', 'import sys, venv; assert sys.version_info >= (3, 10)']);
  } catch {
    return { missing: 'there is no python3 of at least 3.10 with venv' };
  }
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  console.error(`making a Python environment with ${PACKAGE} in node_modules/.cache (once)`);
  try {
    await run('python3', ['-m', 'venv', FOLDER]);
    await run(PYTHON, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', PACKAGE]);
  } catch (error) {
    return {
      missing: `${PACKAGE} could not be installed: ${String((error as Error).message).slice(0, 300)}`,
    };
  }
  writeFileSync(COMPLETE, '');
  return { python: PYTHON };
}

/** Runs a program of this folder and reads the JSON it prints. */
export async function runPython(python: string, program: string, ...args: string[]): Promise<unknown> {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const { stdout } = await run(python, [path, ...args], { timeout: 60_000 });
  return JSON.parse(stdout);
}
