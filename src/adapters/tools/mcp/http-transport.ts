import { AsyncLocalStorage } from 'node:async_hooks';
import { type FetchLike, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { reveal } from './environment.ts';
import type { McpValue } from './server-spec.ts';

/** How often the SDK tries to resume a stream; after that it waits for the answer in silence. */
const RESUME_ATTEMPTS = 2;
/** The SDK reads the last chunk of a stream a little after it passed here. */
const LAST_CHUNK_MS = 100;

/**
 * A call in flight. The SDK does not tell a request that the stream of its answer ended without one (the server died,
 * a proxy hung up), and would let it wait for its time limit. What the requests of a call see of their streams
 * arrives here instead.
 */
class CallWatch {
  readonly lost: Promise<never>;
  readonly #aborter = new AbortController();
  readonly #reject: (error: AnswerLostError) => void;
  #failedResumes = 0;

  constructor() {
    const { promise, reject } = Promise.withResolvers<never>();
    this.lost = promise;
    this.#reject = reject;
  }

  /** Aborts when the answer is lost. */
  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  streamEnded(resumable: boolean): void {
    this.#failedResumes = 0;
    if (!resumable) setTimeout(() => this.#giveUp(), LAST_CHUNK_MS).unref();
  }

  resumeFailed(): void {
    this.#failedResumes += 1;
    if (this.#failedResumes >= RESUME_ATTEMPTS) this.#giveUp();
  }

  #giveUp(): void {
    const error = new AnswerLostError();
    this.#reject(error);
    this.#aborter.abort(error);
  }
}

/** The stream that was to carry the answer ended without it. */
export class AnswerLostError extends Error {
  constructor() {
    super('the connection ended before the answer came');
    this.name = 'AnswerLostError';
  }
}

const watches = new AsyncLocalStorage<CallWatch>();

/**
 * Runs one request and rejects with `AnswerLostError` as soon as its answer cannot come any more. The signal the
 * request gets aborts with `signal` and when the answer is lost.
 */
export async function withAnswerWatch<T>(
  signal: AbortSignal,
  request: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const watch = new CallWatch();
  const given = AbortSignal.any([signal, watch.signal]);
  return Promise.race([watches.run(watch, () => request(given)), watch.lost]);
}

/** The SDK's streamable HTTP transport, whose calls notice lost answers. Redirects stay within the origin. */
export function createHttpTransport(
  url: string,
  headers: Readonly<Record<string, McpValue>>,
): StreamableHTTPClientTransport {
  const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, reveal(value)]));
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: plain },
    redirectPolicy: 'same-origin',
    fetch: watchedFetch,
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      reconnectionDelayGrowFactor: 2,
      maxReconnectionDelay: 10_000,
      maxRetries: RESUME_ATTEMPTS,
    },
  });
}

const watchedFetch: FetchLike = async (url, init) => {
  const watch = watches.getStore();
  const isResume = init?.method === 'GET';
  try {
    const response = await fetch(url, init);
    if (watch === undefined) return response;
    if (isResume && !response.ok) watch.resumeFailed();
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true;
    return response.ok && isStream && response.body !== null
      ? new Response(watchedBody(response.body, watch), response)
      : response;
  } catch (error) {
    if (isResume) watch?.resumeFailed();
    throw error;
  }
};

/** The same bytes; tells the watch when they end, and whether an event carried an id to resume from. */
function watchedBody(body: ReadableStream<Uint8Array>, watch: CallWatch): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let resumable = false;
  let lineStart = true;
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          watch.streamEnded(resumable);
          return controller.close();
        }
        const text = Buffer.from(value).toString('latin1');
        resumable ||= (lineStart && text.startsWith('id:')) || /[\r\n]id:/.test(text);
        lineStart = /[\r\n]$/.test(text);
        controller.enqueue(value);
      } catch (error) {
        watch.streamEnded(resumable);
        controller.error(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
