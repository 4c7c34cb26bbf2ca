import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Written to standard input, which is then closed. Default: it is closed at once. */
  readonly input?: string;
}

/** A running `tiny-harness`. */
export interface Run {
  readonly child: ChildProcess;
  readonly stdout: string;
  readonly stderr: string;
  /** Everything it wrote so far. */
  readonly output: string;
  /** The exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
  /** Resolves with the match once it stands in the output; rejects when the program ends without it. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
}

/** Starts the built program as a process of its own; it is gone when the test is over. */
export function start(args: readonly string[], options: RunOptions = {}): Run {
  if (!existsSync(MAIN)) throw new Error(`${MAIN} is missing; run: node scripts/build.mjs`);
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: options.cwd,
    // A small environment: what the machine happens to have set is not what is tested.
    env: {
      PATH: process.env.PATH,
      HOME: options.env?.HOME ?? '/nonexistent',
      XDG_CACHE_HOME: cache(),
      ...options.env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const text = { stdout: '', stderr: '', both: '' };
  const looking = new Set<() => void>();
  const changed = () => {
    for (const look of looking) look();
  };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (piece: string) => {
      text[name] += piece;
      text.both += piece;
      changed();
    });
  }
  child.stdin.on('error', () => {});
  child.stdin.end(options.input ?? '');
  let isOver = false;
  const ended = new Promise<number | string>((resolve) => {
    child.on('close', (code, signal) => {
      isOver = true;
      resolve(code ?? signal ?? 'unknown');
      changed();
    });
  });
  onTestFinished(async () => {
    if (isOver) return;
    child.kill('SIGTERM');
    await ended;
  });
  return {
    child,
    get stdout() {
      return text.stdout;
    },
    get stderr() {
      return text.stderr;
    },
    get output() {
      return text.both;
    },
    ended,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(text.both);
          if (match === null && !isOver) return;
          looking.delete(look);
          if (match === null) reject(new Error(`the program ended without ${pattern}:\n${text.both}`));
          else resolve(match);
        };
        looking.add(look);
        look();
      }),
  };
}

/** Runs the program to its end. */
export async function run(
  args: readonly string[],
  options: RunOptions = {},
): Promise<Run & { code: number | string }> {
  const running = start(args, options);
  const code = await running.ended;
  return Object.assign(Object.create(running) as Run, { code });
}

/** Processes of this machine that know a folder, by their arguments or their environment. */
export function processesAbout(folder: string): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
    .flatMap((pid) => {
      try {
        const known = `${readFileSync(`/proc/${pid}/cmdline`)}\n${readFileSync(`/proc/${pid}/environ`)}`;
        return known.includes(folder) ? [`${pid} ${known.split('\n')[0]}`] : [];
      } catch {
        return []; // It ended while we looked.
      }
    });
}

/** The lines of a text that are not empty. */
export function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}

/** A port of this machine where nothing listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Where the Temporal CLI of this machine is kept. */
function cache(): string {
  return process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
}
