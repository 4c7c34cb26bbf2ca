import { type ChildProcess, spawn } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serverEnvironment } from './server-arguments.ts';
import type { SupervisorJob, SupervisorMessage } from './supervisor-protocol.ts';

/** How the server ended. */
export interface EmbeddedExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** Beyond the server's own grace: what the supervisor may take to notice and leave. */
const SUPERVISOR_GRACE_MS = 3_000;

/** The same folder and suffix as this file: `.ts` from source, `.js` when built. */
const SUPERVISOR = fileURLToPath(new URL(`./supervisor${extname(import.meta.url)}`, import.meta.url));

/** A running supervisor with its server: two processes in a group of their own. */
export class SupervisedServer {
  /** Settles when the server's process exists; rejects when it cannot be made. */
  readonly spawned: Promise<number>;
  /** Resolves when both processes are gone. Never rejects. */
  readonly ended: Promise<EmbeddedExit>;
  readonly supervisorPid: number | undefined;
  readonly #child: ChildProcess;
  readonly #graceMs: number;
  #serverPid: number | undefined;
  #stopping: Promise<void> | undefined;

  /** @param logFd where both processes write; may be closed after the call. */
  constructor(job: SupervisorJob, logFd: number) {
    this.#graceMs = job.graceMs;
    const child = spawn(process.execPath, [SUPERVISOR, JSON.stringify(job)], {
      stdio: ['ignore', logFd, logFd, 'ipc'],
      env: serverEnvironment(process.env),
      detached: true,
      windowsHide: true,
    });
    this.#child = child;
    this.supervisorPid = child.pid;
    // A host that forgets to stop the harness still ends, and the server with it.
    child.unref();
    child.channel?.unref();

    const spawned = Promise.withResolvers<number>();
    const ended = Promise.withResolvers<EmbeddedExit>();
    this.spawned = spawned.promise;
    this.ended = ended.promise;
    spawned.promise.catch(() => {}); // A caller that only waits for `ended` is not an unhandled rejection.
    let exit: EmbeddedExit | undefined;
    child.on('message', (message) => {
      const said = message as SupervisorMessage;
      if (said.kind === 'spawned') {
        this.#serverPid = said.pid;
        spawned.resolve(said.pid);
      } else if (said.kind === 'exited') exit = { code: said.code, signal: said.signal };
      else spawned.reject(new Error(said.reason));
    });
    const gone = (code: number | null, signal: string | null): void => {
      // A supervisor that ended without a word was killed itself, and has left its server behind.
      if (exit === undefined) this.#killAll();
      spawned.reject(new Error(`the supervisor ended with ${code ?? signal}`));
      ended.resolve(exit ?? { code, signal });
    };
    child.on('error', (error) => {
      spawned.reject(error);
      if (child.pid === undefined) gone(null, null);
    });
    child.on('exit', gone);
  }

  /** Stops the server and waits until both processes are gone. May be called again. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#child.ref(); // The process must not run out of work while it waits here.
    if (this.#child.connected) this.#child.send('stop', () => {}); // It may end at this moment: the callback eats that.
    const timer = setTimeout(() => this.#killAll(), this.#graceMs + SUPERVISOR_GRACE_MS);
    await this.ended;
    clearTimeout(timer);
  }

  #killAll(): void {
    // The group first: it holds whatever the server may have started. Windows has no groups.
    for (const pid of [this.#child.pid && -this.#child.pid, this.#serverPid, this.#child.pid]) {
      if (pid === undefined) continue;
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Gone already.
      }
    }
  }
}
