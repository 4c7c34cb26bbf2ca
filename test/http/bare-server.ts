import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { SqliteStore } from '../../src/adapters/store/sqlite/index.ts';
import { HarnessError, silentLogger } from '../../src/core/base/index.ts';
import { Journal, LocalBus } from '../../src/core/persistence/index.ts';
import { createRedactor, secretRegistry } from '../../src/core/security/index.ts';
import { A2AServer, type A2AServerOptions, buildCard, Projection } from '../../src/service/a2a/index.ts';
import { toNodeHandler } from '../../src/service/mount/index.ts';
import { DATA } from '../store/contract.ts';
import { testFolder } from '../support/harness.ts';

/** A bus that knows how many listen. */
class CountingBus extends LocalBus {
  readonly #waiting = new Set<{ readonly count: number; readonly resolve: () => void }>();
  listening = 0;

  override subscribe(...args: Parameters<LocalBus['subscribe']>): () => void {
    const end = super.subscribe(...args);
    this.#changed(1);
    let ended = false;
    return () => {
      end();
      if (!ended) this.#changed(-1);
      ended = true;
    };
  }

  /** Resolves once this many listen. */
  async until(count: number): Promise<void> {
    if (this.listening === count) return;
    await new Promise<void>((resolve) => {
      this.#waiting.add({ count, resolve });
    });
  }

  #changed(by: number): void {
    this.listening += by;
    for (const each of this.#waiting) {
      if (each.count !== this.listening) continue;
      this.#waiting.delete(each);
      each.resolve();
    }
  }
}

/**
 * The A2A server on a port, over a store with one task `t` of alice that nothing runs: the test writes its log. A send
 * is answered as when no worker is there.
 */
export async function startBareServer(options: Partial<A2AServerOptions> = {}) {
  const store = SqliteStore.open(join(testFolder(), 'store.db'));
  const bus = new CountingBus();
  const redactor = createRedactor(() => secretRegistry().snapshot());
  const journal = new Journal(store, bus, redactor);
  await journal.admit({
    inbox: {
      key: 'k',
      taskId: 't',
      sender: 'alice',
      senderKind: 'human',
      messageId: 'm',
      bodyHash: '',
      message: { parts: [], extensions: [], referenceTaskIds: [] },
      mail: { key: 'k', messageId: 'm', sender: 'alice', role: 'reporter', kind: 'human' },
    },
    task: { id: 't', contextId: 'c', reporter: 'alice', data: DATA },
    entries: [{ key: 'message:k', exchange: 1, body: { kind: 'message', inbox: 'k' } }],
  });
  const stop = new AbortController();
  const away = () => Promise.reject(new HarnessError('worker_unavailable', 'no worker answered'));
  const a2a = new A2AServer({
    card: buildCard({
      name: 'a',
      description: 'a',
      version: '1',
      skills: [],
      commands: [],
      publicUrl: 'http://a',
    }),
    admission: { admit: away, open: away },
    delivery: { start: away, deliver: away, cancel: away, fate: away },
    journal,
    projection: new Projection(store, 'agent'),
    identity: { agentId: 'agent' },
    maxRequestBytes: 1_000_000,
    rateLimitPerMinute: 1_000_000,
    readiness: {},
    logger: silentLogger,
    signal: stop.signal,
    ...options,
  });
  const errors: unknown[] = [];
  const handler = toNodeHandler(
    async (request, origin) =>
      (await a2a.fetch(request, new URL(request.url).pathname, origin)) ??
      new Response(null, { status: 404 }),
    { onError: (error) => errors.push(error) },
  );
  const server = createServer(handler);
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  onTestFinished(async () => {
    stop.abort();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    await store.close();
  });
  return { url: `http://127.0.0.1:${port}/`, port, journal, bus, stop, sockets, errors };
}

/** A client's socket that has asked to follow the task and reads nothing but what it is told to. */
export async function followWith(port: number, headers: Record<string, string> = {}): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').pause();
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  const lines = Object.entries({ 'a2a-version': '1.0', 'x-participant-id': 'alice', ...headers });
  socket.write(
    `GET /tasks/t:subscribe HTTP/1.1\r\nhost: a\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  );
  return socket;
}

/** Reads what comes until it holds this text, then reads no further. */
export async function readTo(socket: Socket, text: string): Promise<string> {
  let read = '';
  const found = Promise.withResolvers<void>();
  const take = (chunk: Buffer) => {
    read += chunk.toString('latin1');
    if (read.includes(text)) found.resolve();
  };
  socket.on('data', take).resume();
  await found.promise;
  socket.off('data', take).pause();
  return read;
}
