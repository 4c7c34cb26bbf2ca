import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { LineBuffer } from './line-buffer.ts';
import { LineLog } from './line-log.ts';

/** The process of a server. */
export interface StdioTransportOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment; nothing is added. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly onStderr: (line: string) => void;
  /** How long a server may take to end at each stage of closing, in milliseconds. */
  readonly graceMs?: number;
}

/** How long output may still come after the process ended, when a child of it holds the pipe. */
const AFTER_EXIT_MS = 250;

/**
 * An MCP server as a child process. Differs from the SDK's transport in what it promises:
 *
 * 1. The process gets exactly the given environment, and never runs through a shell.
 * 2. It leads its own process group (except on Windows), and closing ends the group: a launcher such as `npx` leaves
 *    no server behind. Its end of input, then SIGTERM, then SIGKILL, each after a bounded wait.
 * 3. Its death is reported within a quarter of a second, even when a grandchild keeps its pipes open.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** What the process wrote to stderr. */
  readonly stderr: LineLog;
  readonly #options: StdioTransportOptions;
  readonly #buffer = new LineBuffer();
  readonly #ended = Promise.withResolvers<void>();
  readonly #exited = Promise.withResolvers<void>();
  #process: ChildProcessWithoutNullStreams | undefined;
  #closing: Promise<void> | undefined;
  #isOver = false;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
    this.stderr = new LineLog(options.onStderr);
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Spawns the process; rejects when it cannot be (no such program, no such folder). */
  start(): Promise<void> {
    const { command, args, env, cwd } = this.#options;
    const child = spawn(command, args, {
      env,
      cwd,
      shell: false,
      windowsHide: true,
      detached: process.platform !== 'win32',
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#process = child;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    child.once('spawn', resolve);
    child.on('error', (error) => {
      reject(error);
      this.onerror?.(error);
      if (child.pid === undefined) this.#over();
    });
    child.once('exit', () => {
      this.#exited.resolve();
      // While closing, what the process started has as long to end as the process itself.
      if (this.#closing === undefined) setTimeout(() => this.#over(), AFTER_EXIT_MS).unref();
    });
    child.once('close', () => this.#over());
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stderr.on('data', (chunk: Buffer) => this.stderr.write(chunk));
    child.stderr.on('end', () => this.stderr.end());
    // A server that died between two writes breaks the pipe; its end is reported by "close".
    for (const stream of [child.stdin, child.stdout, child.stderr])
      stream.on('error', (error) => this.onerror?.(error));
    return promise;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#process?.stdin;
    if (stdin === undefined || this.#isOver || !stdin.writable)
      throw new Error('the server process has ended');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    await promise;
  }

  /** Ends the process and whatever it started; resolves when nothing is left of them. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const child = this.#process;
    if (child?.pid === undefined) return this.#over();
    const grace = this.#options.graceMs ?? 2000;
    child.stdin.end();
    if (!(await this.#endsWithin(Math.min(grace, 500)))) {
      this.#signal('SIGTERM');
      await this.#endsWithin(grace);
    }
    this.#over();
    await this.#exited.promise;
  }

  #endsWithin(ms: number): Promise<boolean> {
    if (this.#isOver) return Promise.resolve(true);
    const stop = new AbortController();
    const late = wait(ms, false, { signal: stop.signal }).catch(() => false);
    return Promise.race([this.#ended.promise.then(() => true), late]).finally(() => stop.abort());
  }

  #read(chunk: Buffer): void {
    let lines: string[];
    try {
      lines = this.#buffer.push(chunk);
    } catch (error) {
      // What follows cannot be told apart from the message that is too long any more.
      this.onerror?.(error as Error);
      void this.close();
      return;
    }
    for (const line of lines) {
      try {
        this.onmessage?.(deserializeMessage(line));
      } catch (error) {
        // A server may print what is no message at all.
        if (!(error instanceof SyntaxError)) this.onerror?.(error as Error);
      }
    }
  }

  /** The one end of a process, however it came; whatever is left of its group goes with it. */
  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#signal('SIGKILL');
    const child = this.#process;
    for (const stream of [child?.stdin, child?.stdout, child?.stderr]) stream?.destroy();
    this.#buffer.clear();
    this.#ended.resolve();
    this.onclose?.();
  }

  #signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    const pid = this.#process?.pid;
    if (pid === undefined) return;
    try {
      if (process.platform === 'win32') this.#process?.kill(signal);
      else process.kill(-pid, signal);
    } catch {
      // Nobody of the group is left.
    }
  }
}
