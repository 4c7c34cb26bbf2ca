import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { OnFinished } from './harness.ts';

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

/** Starts `serve` with its worker and waits until it says that it is ready. It is gone when the test is over. */
export function serve(config: string, env: Record<string, string> = {}): Promise<Served> {
  return start(['serve', '--with-worker', '--config', config], env);
}

/** Starts any command that says when it is ready. Without an address in that line, `url` is empty. */
export async function start(
  args: readonly string[],
  env: Record<string, string> = {},
  onFinished: OnFinished = onTestFinished,
): Promise<Served> {
  const child = spawn(process.execPath, [MAIN, ...args], {
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
  onFinished(async () => {
    if (isRunning(child)) child.kill('SIGTERM');
    await ended;
  });
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      output += `${line}\n`;
      if (line.startsWith('ready: ')) resolve(/ at (http:\S+)/.exec(line)?.[1] ?? '');
    });
    void ended.then((how) =>
      reject(new Error(`${args[0]} ended with ${how} before it was ready:\n${output}`)),
    );
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
