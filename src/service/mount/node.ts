import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * A `Request -> Response` function as a handler of `node:http`. The request's signal aborts when the client goes away;
 * a slow client slows the response's source down.
 */
export function toNodeHandler(
  fetch: (request: Request) => Promise<Response>,
  options: { readonly onError: (error: unknown) => void },
): (request: IncomingMessage, response: ServerResponse) => void {
  return (incoming, outgoing) => {
    serve(fetch, incoming, outgoing).catch((error: unknown) => {
      if (!outgoing.destroyed) options.onError(error);
      if (!outgoing.headersSent) {
        outgoing.writeHead(500, { 'content-type': 'application/json' });
        outgoing.end('{"error":"internal error"}');
      } else {
        outgoing.destroy();
      }
    });
  };
}

async function serve(
  fetch: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  const response = await fetch(toRequest(incoming, gone.signal));
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
    if (!gone.signal.aborted) throw error;
  }
}

function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const method = incoming.method ?? 'GET';
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined) headers.append(name, each);
  }
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const origin = `http://${incoming.headers.host ?? 'localhost'}`;
  const target = incoming.url ?? '/';
  // A path that begins with two slashes is a path, not the name of another host.
  return new Request(target.startsWith('/') ? `${origin}${target}` : new URL(target, origin), {
    method,
    headers,
    signal,
    ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: 'half' } : {}),
  } as RequestInit);
}
