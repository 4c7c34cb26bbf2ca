import { resolve } from 'node:path';
import { messageOf } from '../../../core/base/index.ts';
import { claimVersion, closeDatabaseFiles, databaseFiles, makeDatabaseFolder } from './database-files.ts';
import { type DatabaseLock, lockDatabase } from './database-lock.ts';
import type { TemporalCli } from './find-cli.ts';
import { freePort, isPortFree } from './port.ts';
import { waitForPreviousServer } from './previous-server.ts';
import { serverArguments } from './server-arguments.ts';
import { openServerLog, type ServerLog } from './server-log.ts';
import { startFailure } from './start-failure.ts';
import { type EmbeddedExit, SupervisedServer } from './supervised-server.ts';
import { waitUntilServing } from './wait-until-serving.ts';

export type { EmbeddedExit } from './supervised-server.ts';

export interface EmbeddedTemporalOptions {
  /** From `findTemporalCli`. */
  readonly cli: Pick<TemporalCli, 'path' | 'version'>;
  /** The database file; its log, lock, `.version` and `.owner` lie beside it. With `persist: false` only the log does. */
  readonly databasePath: string;
  /** The lock of the database, kept by the caller for several servers after another. Default: one for this server. */
  readonly lock?: DatabaseLock | undefined;
  /** Default true. False: everything is kept in memory and gone at the end. */
  readonly persist?: boolean | undefined;
  /** The port of the frontend on 127.0.0.1. Default a free one. */
  readonly port?: number | undefined;
  /** Default `full`: nothing committed is lost with the power. `normal` is a tenth faster and may lose the last commits. */
  readonly synchronous?: 'full' | 'normal' | undefined;
  /** Default `error`. */
  readonly logLevel?: 'warn' | 'error' | undefined;
  /** Default 15,000. */
  readonly readyTimeoutMs?: number | undefined;
  /** How long `stop` lets the server finish before it is killed. Default 5,000. */
  readonly graceMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A running dev server. It ends with this process, however this process ends. */
export interface EmbeddedTemporal {
  /** `127.0.0.1:<port>`. */
  readonly address: string;
  readonly namespace: 'default';
  /** The server's process. */
  readonly pid: number;
  /** The process between: it stops the server when this process is gone. */
  readonly supervisorPid: number;
  /** Of the CLI. */
  readonly version: string;
  readonly logPath: string;
  /** Calls back once when the server ends without `stop`. The callback must not throw. Returns what takes it off. */
  onExit(callback: (exit: EmbeddedExit) => void): () => void;
  /** Ends the server and waits until its processes are gone and its port is free. May be called again. */
  stop(): Promise<void>;
}

const NAMESPACE = 'default';
/** Each server chooses a handful of free ports for itself; another may take one of them in between. */
const PORT_ATTEMPTS = 3;

/**
 * Starts the dev server of the Temporal CLI as a child and waits until it answers (EM-1).
 *
 * @throws HarnessError `temporal.start_failed`, with the end of the log and no process left; the signal's reason when
 *   it aborts.
 */
export async function startEmbeddedTemporal(options: EmbeddedTemporalOptions): Promise<EmbeddedTemporal> {
  const { signal } = options;
  signal?.throwIfAborted();
  const databasePath = resolve(options.databasePath);
  const persist = options.persist ?? true;
  const own = persist && options.lock === undefined ? await lockDatabase(databasePath) : undefined;
  try {
    const server = await startLocked({ ...options, databasePath, persist });
    return own === undefined ? server : releasing(server, own);
  } catch (error) {
    own?.release();
    throw error;
  }
}

type StartOptions = EmbeddedTemporalOptions & { readonly persist: boolean };

async function startLocked(options: StartOptions): Promise<EmbeddedTemporal> {
  const { databasePath, persist, signal } = options;
  const files = databaseFiles(databasePath);
  let log: ServerLog;
  try {
    await makeDatabaseFolder(databasePath);
    log = await openServerLog(files.log);
  } catch (cause) {
    throw startFailure(`its folder cannot be used: ${messageOf(cause)}`, cause);
  }
  try {
    if (persist) {
      await waitForPreviousServer(files.owner, signal);
      await claimVersion(databasePath, options.cli);
    }
    for (let attempt = 1; ; attempt++) {
      try {
        return await attemptStart(options, log);
      } catch (error) {
        const tail = signal?.aborted ? '' : await log.tail();
        // A port of the configuration was seen free, so this is one of the ports that the server took for itself.
        if (attempt < PORT_ATTEMPTS && tail.includes('address already in use')) continue;
        throw error;
      }
    }
  } finally {
    log.close();
  }
}

/** The server with a lock of its own, which it keeps until `stop`: dying by itself it leaves the file to its owner. */
function releasing(server: EmbeddedTemporal, lock: DatabaseLock): EmbeddedTemporal {
  return {
    ...server,
    async stop() {
      await server.stop();
      lock.release();
    },
  };
}

async function attemptStart(options: StartOptions, log: ServerLog): Promise<EmbeddedTemporal> {
  const { cli, databasePath, persist, signal, readyTimeoutMs = 15_000, graceMs = 5_000 } = options;
  const port = options.port || (await freePort());
  if (options.port && !(await isPortFree(port)))
    throw startFailure(
      `port ${port} on 127.0.0.1 is taken. Set another temporal.embedded.port, or none for a free one`,
    );

  const server = new SupervisedServer(
    {
      command: cli.path,
      args: serverArguments({
        port,
        databasePath: persist ? databasePath : undefined,
        synchronous: options.synchronous ?? 'full',
        logLevel: options.logLevel ?? 'error',
      }),
      ownerFile: persist ? databaseFiles(databasePath).owner : undefined,
      port,
      harnessPid: process.pid,
      graceMs,
    },
    log.fd,
  );
  const over = new AbortController();
  const timer = setTimeout(
    () => over.abort(new Error(`it did not answer within ${readyTimeoutMs / 1000} s`)),
    readyTimeoutMs,
  );
  const abort = (): void => over.abort(signal?.reason);
  signal?.addEventListener('abort', abort);
  void server.ended.then((exit) => over.abort(new Error(`it ended with ${exit.code ?? exit.signal}`)));
  let pid: number;
  try {
    pid = await Promise.race([server.spawned, rejectOn(over.signal)]);
    await waitUntilServing(port, NAMESPACE, over.signal);
    if (persist) await closeDatabaseFiles(databasePath);
    over.signal.throwIfAborted();
  } catch (error) {
    const reason = over.signal.aborted ? over.signal.reason : error; // Before `stop`, which ends it too.
    await server.stop();
    signal?.throwIfAborted();
    throw startFailure(messageOf(reason), reason, { path: log.path, tail: await log.tail() });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
  return running(server, { port, pid, version: cli.version, logPath: log.path });
}

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
  );
}

function running(
  server: SupervisedServer,
  facts: { readonly port: number; readonly pid: number; readonly version: string; readonly logPath: string },
): EmbeddedTemporal {
  const { port, pid, version, logPath } = facts;
  let stopping = false;
  return {
    address: `127.0.0.1:${port}`,
    namespace: NAMESPACE,
    pid,
    supervisorPid: server.supervisorPid ?? 0,
    version,
    logPath,
    onExit(callback) {
      let wanted = true;
      void server.ended.then((exit) => {
        if (wanted && !stopping) callback(exit);
      });
      return () => {
        wanted = false;
      };
    },
    stop() {
      stopping = true;
      return server.stop();
    },
  };
}
