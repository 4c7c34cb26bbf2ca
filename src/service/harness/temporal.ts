import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type TLSConfig } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { HarnessError, type Logger, messageOf } from '../../core/base/index.ts';
import { connectClient } from '../durable/client/index.ts';
import {
  type EmbeddedTemporalOptions,
  findTemporalCli,
  lockDatabase,
  prepareServer,
  startEmbeddedTemporal,
} from '../durable/embedded/index.ts';
import type { Settings } from './settings/index.ts';

/** What a harness works with of Temporal. */
export interface TemporalConnections {
  readonly address: string;
  readonly client: Client;
  readonly native: NativeConnection;
}

interface ConnectOptions {
  readonly logger: Logger;
  readonly onProgress: (line: string) => void;
  readonly signal: AbortSignal | undefined;
}

/** How long a connection attempt may take. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Connects to the configured Temporal, starting it first in embedded mode. What was opened is closed by `undo`, in
 * reverse order.
 *
 * @throws HarnessError `temporal.binary_missing`, `temporal.start_failed`, `temporal_unavailable`.
 */
export async function connectTemporal(
  settings: Settings,
  undo: AsyncDisposableStack,
  options: ConnectOptions,
): Promise<TemporalConnections> {
  const { temporal } = settings;
  const address =
    temporal.mode === 'embedded' ? await startEmbedded(settings, undo, options) : (temporal.address ?? '');
  const security = await securityOf(settings);
  options.signal?.throwIfAborted();
  try {
    const { connection, close } = await connectClient({
      address,
      connectTimeout: CONNECT_TIMEOUT_MS,
      ...security,
    });
    undo.defer(close);
    const native = await NativeConnection.connect({ address, ...security });
    undo.defer(() => native.close());
    return { address, client: new Client({ connection, namespace: temporal.namespace }), native };
  } catch (error) {
    throw new HarnessError(
      'temporal_unavailable',
      `Temporal at ${address} does not answer: ${messageOf(error)}. Check temporal.address, or set temporal.mode = "embedded".`,
      { cause: error },
    );
  }
}

async function startEmbedded(
  settings: Settings,
  undo: AsyncDisposableStack,
  options: ConnectOptions,
): Promise<string> {
  const { embedded } = settings.temporal;
  const { onProgress, signal } = options;
  const cli = await findTemporalCli(embedded, { onProgress, signal });
  const retentionMs = Math.max(settings.retention.tasksMs, 3_600_000);
  const lock = embedded.persist ? await lockDatabase(embedded.databasePath) : undefined;
  undo.defer(() => lock?.release());
  const server = await keepEmbedded({ cli, lock, ...embedded }, retentionMs, options);
  undo.defer(() => server.stop());
  options.logger.info('embedded Temporal is ready', { address: server.address, version: server.version });
  return server.address;
}

/** How long the first and at most every further attempt to bring the server back waits. */
const RESTART_MS = { first: 200, longest: 5_000 };

/**
 * An embedded server that is started and prepared again, on the same port and file, when it dies by itself (EM-7). The
 * connections find it there, and tasks go on.
 */
async function keepEmbedded(
  start: EmbeddedTemporalOptions,
  retentionMs: number,
  { logger, signal }: ConnectOptions,
): Promise<{ readonly address: string; readonly version: string; stop(): Promise<void> }> {
  const started = async (over: Partial<EmbeddedTemporalOptions>) => {
    const server = await startEmbeddedTemporal({ ...start, ...over });
    try {
      await prepareServer(server.address, { retentionMs });
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  };
  let current = await started({ signal });
  const { address, version } = current;
  const port = Number(address.slice(address.lastIndexOf(':') + 1));
  const stopped = new AbortController();
  let restarting: Promise<void> = Promise.resolve();
  const watch = (): void => {
    current.onExit((exit) => {
      if (stopped.signal.aborted) return;
      logger.error('the embedded Temporal server ended by itself; it is started again', { ...exit });
      restarting = restart();
    });
  };
  const restart = async (): Promise<void> => {
    for (
      let delay = RESTART_MS.first;
      !stopped.signal.aborted;
      delay = Math.min(delay * 2, RESTART_MS.longest)
    ) {
      try {
        current = await started({ port, signal: stopped.signal });
        watch();
        logger.info('the embedded Temporal server is back', { address });
        return;
      } catch (error) {
        if (stopped.signal.aborted) return;
        logger.error('the embedded Temporal server does not come back yet', { reason: messageOf(error) });
        await sleep(delay, undefined, { signal: stopped.signal }).catch(() => {});
      }
    }
  };
  watch();
  return {
    address,
    version,
    async stop() {
      stopped.abort();
      await restarting;
      await current.stop();
    },
  };
}

async function securityOf(settings: Settings): Promise<{ tls?: TLSConfig | boolean; apiKey?: string }> {
  const { tls, apiKey } = settings.temporal;
  const key = apiKey === undefined ? {} : { apiKey: apiKey.reveal() };
  if (tls === undefined) return { tls: false, ...key };
  const file = async (path: string | undefined) => (path === undefined ? undefined : readFile(path));
  const [ca, crt, clientKey] = await Promise.all([file(tls.caFile), file(tls.certFile), file(tls.keyFile)]);
  return {
    ...key,
    tls: {
      ...(tls.serverName === undefined ? {} : { serverNameOverride: tls.serverName }),
      ...(ca ? { serverRootCACertificate: ca } : {}),
      ...(crt && clientKey ? { clientCertPair: { crt, key: clientKey } } : {}),
    },
  };
}
