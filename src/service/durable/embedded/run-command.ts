import { spawn } from 'node:child_process';

export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** The command is killed after this many milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Sees what the command prints, piece by piece. Must not throw. */
  readonly onOutput?: ((text: string) => void) | undefined;
}

/**
 * Runs a command to its end and gives what it printed (both streams, in order of arrival). Rejects with a one-line
 * message when it cannot be started, is killed, or exits with another code than 0; with the signal's reason when that
 * aborts.
 */
export function runCommand(command: string, args: readonly string[], options: RunOptions): Promise<string> {
  options.signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = spawn(command, args, {
    env: options.env ?? process.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  let output = '';
  let timedOut = false;
  const take = (chunk: string): void => {
    output += chunk;
    options.onOutput?.(chunk);
  };
  child.stdout.setEncoding('utf8').on('data', take);
  child.stderr.setEncoding('utf8').on('data', take);
  const kill = (): void => void child.kill('SIGKILL');
  const timer = setTimeout(() => {
    timedOut = true;
    kill();
  }, options.timeoutMs);
  options.signal?.addEventListener('abort', kill);
  const end = (): void => {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', kill);
  };
  child.on('error', (error: NodeJS.ErrnoException) => {
    end();
    reject(error.code === 'ENOENT' ? new Error(`${command}: not found`) : error);
  });
  child.on('close', (code, killedBy) => {
    end();
    if (options.signal?.aborted) reject(options.signal.reason);
    else if (timedOut) reject(new Error(`${command} did not finish within ${options.timeoutMs / 1000} s`));
    else if (code === 0) resolve(output);
    else reject(new Error(`${command} ended with ${code ?? killedBy}: ${lastLine(output)}`));
  });
  return promise;
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim() || 'no output';
}
