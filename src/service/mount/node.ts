import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Answers a request; `peer` is the address it came from, where there is one. */
export type NodeFetch = (
  request: Request,
  origin: { readonly peer: string | undefined },
) => Promise<Response>;

/**
 * A `Request -> Response` function as a handler of `node:http`. The request's signal aborts when the client goes away;
 * a slow client slows the response's source down.
 */
export function toNodeHandler(
  fetch: NodeFetch,
  options: { readonly onError: (error: unknown) => void },
): (request: IncomingMessage, response: ServerResponse) => void {
  return (incoming, outgoing) => {
    serve(fetch, incoming, outgoing).catch((error: unknown) => {
      if (!outgoing.destroyed) options.onError(error);
      if (!outgoing.headersSent) {
        fail(outgoing, 500, 'internal error');
      } else {
        outgoing.destroy();
      }
    });
  };
}

async function serve(fetch: NodeFetch, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  const request = toRequest(incoming, gone.signal);
  if (request === undefined)
    return fail(outgoing, 400, 'the address or the method of this request is malformed');
  const response = await fetch(request, { peer: incoming.socket.remoteAddress });
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) {
    outgoing.end();
    return;
  }
  // Headers of a stream go out before its first event.
  outgoing.flushHeaders();
  try {
    await pipeline(Readable.fromWeb(response.body), outgoing);
  } catch (error) {
    if (!gone.signal.aborted && !isAbort(error)) throw error;
  }
}

/** A body that was given up on purpose. */
function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

function fail(outgoing: ServerResponse, status: number, error: string): void {
  outgoing.writeHead(status, { 'content-type': 'application/json' });
  outgoing.end(JSON.stringify({ error }));
}

/** Undefined for a request that the web's own `Request` cannot be: a host that is none, the method TRACE. */
function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  const method = incoming.method ?? 'GET';
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined) headers.append(name, each);
  }
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const url = urlOf(incoming);
  if (url === undefined || method === 'TRACE' || method === 'CONNECT') return undefined;
  return new Request(url, {
    method,
    headers,
    signal,
    ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: 'half' } : {}),
  } as RequestInit);
}

/** A path that begins with two slashes is a path, not the name of another host; a host that holds a path is none. */
function urlOf({ headers: { host = 'localhost' }, url: target = '/' }: IncomingMessage): URL | undefined {
  if (/[/\\?#@]/.test(host)) return undefined;
  const url = URL.parse(target.startsWith('/') ? `http://${host}${target}` : target);
  return url === null || url.username !== '' || url.password !== '' ? undefined : url;
}
