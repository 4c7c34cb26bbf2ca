import { runCommand } from './run-command.ts';

/** A cold start from a slow disk, or a first run that the system scans, takes seconds. */
const VERSION_TIMEOUT_MS = 20_000;

/**
 * The version of a Temporal CLI (`1.9.1`), from running `<path> --version`: the check that a file is the CLI and that
 * this machine can run it. Rejects with a one-line reason when it is not or cannot.
 */
export async function readCliVersion(path: string, signal?: AbortSignal): Promise<string> {
  const output = await runCommand(path, ['--version'], { timeoutMs: VERSION_TIMEOUT_MS, signal });
  const version = /^temporal version (\S+)/m.exec(output)?.[1];
  if (version === undefined)
    throw new Error(`${path} is not the Temporal CLI: it says "${output.trim().slice(0, 80)}"`);
  return version;
}
