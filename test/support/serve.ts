import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** A `tiny-harness serve` in a process of its own. */
export interface Served {
  /** Where it answers; with a trailing slash. */
  readonly url: string;
  readonly pid: number;
  /** Resolves with the code or signal it ended with. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  /** Everything it wrote so far. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
}

/** Starts `serve` and waits until it says that it is ready. It is gone when the test is over. */
export async function serve(config: string, env: Record<string, string> = {}): Promise<Served> {
  const child = spawn(process.execPath, [MAIN, 'serve', '--config', config], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const ended = once(child, 'exit').then(
    ([code, signal]) => (signal ?? code) as number | NodeJS.Signals | null,
  );
  onTestFinished(async () => {
    if (isRunning(child)) child.kill('SIGTERM');
    await ended;
  });
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      output += `${line}\n`;
      const found = /^ready: agent \S+ at (http:\S+)/.exec(line)?.[1];
      if (found) resolve(found);
    });
    void ended.then((how) => reject(new Error(`serve ended with ${how} before it was ready:\n${output}`)));
  });
  return {
    url,
    pid: child.pid ?? 0,
    ended,
    output: () => output,
    kill: (signal) => void child.kill(signal),
  };
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** The processes whose command line names `text` (a folder of the test's own, so that no other one can match). */
export function processesNaming(text: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      const state = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1];
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      return command.includes(text) && !state?.startsWith('Z') ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}
