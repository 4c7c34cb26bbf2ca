import { createHash } from 'node:crypto';
import { isJsonObject, type Logger } from '../../core/base/index.ts';
import { serializeCard } from './card.ts';
import { wireError } from './errors.ts';
import { type HandlerDeps, LogRequestHandler } from './handler.ts';
import { Health, type ReadinessChecks } from './health.ts';
import { HTTP_JSON, type RestRoute, routeOf } from './http-json.ts';
import { jsonRpc, readEnvelope } from './json-rpc.ts';
import { Operations } from './operations.ts';
import { RateLimit } from './rate-limit.ts';
import { readJson } from './read-json.ts';
import { refuse, respond } from './respond.ts';
import type { SseOptions } from './sse.ts';

export interface A2AServerOptions extends HandlerDeps {
  readonly maxRequestBytes: number;
  readonly rateLimitPerMinute: number;
  /** What `/readyz` asks. */
  readonly readiness: ReadinessChecks;
  readonly logger: Logger;
  /** Aborts when the server stops: every stream ends. */
  readonly signal: AbortSignal;
  /** Times of streams; the defaults are meant. */
  readonly streams?: Pick<SseOptions, 'heartbeatMs' | 'stallMs'>;
}

/** What is known of a request beyond itself. */
export interface RequestOrigin {
  /** The address it came from; without one there is no limit to its rate. */
  readonly peer?: string | undefined;
}

const CARD_PATH = '/.well-known/agent-card.json';

/** A2A over HTTP: `Request` in, `Response` out, whatever framework is around it. */
export class A2AServer {
  readonly #options: A2AServerOptions;
  readonly #operations: Operations;
  readonly #health: Health;
  readonly #rate: RateLimit;
  readonly #streams: SseOptions;
  readonly #card: { readonly body: string; readonly etag: string };

  constructor(options: A2AServerOptions) {
    this.#options = options;
    const { logger, signal, identity } = options;
    const { defaultParticipant } = identity;
    const handler = new LogRequestHandler(options);
    this.#operations = new Operations(handler, { logger, signal, defaultParticipant });
    this.#health = new Health(options.readiness);
    this.#rate = new RateLimit(options.rateLimitPerMinute);
    this.#streams = { ...options.streams, logger };
    const body = serializeCard(options.card);
    this.#card = { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
  }

  /** Answers a request whose path is below the agent's own URL; undefined for a path that is none of ours. */
  async fetch(request: Request, path: string, { peer }: RequestOrigin = {}): Promise<Response | undefined> {
    const health = await this.#health.fetch(request, path);
    if (health !== undefined) return health;
    const isRpc = path === '/' || path === '';
    const wait = peer === undefined ? 0 : this.#rate.take(peer);
    if (wait > 0) {
      const message = `more than ${this.#options.rateLimitPerMinute} requests a minute (server.rate_limit_per_minute)`;
      const error = { ...wireError('RATE_LIMITED', message), retryAfterS: wait };
      return refuse(isRpc ? jsonRpc(null) : HTTP_JSON, error);
    }
    if (path === CARD_PATH && (request.method === 'GET' || request.method === 'HEAD')) {
      return this.#serveCard(request);
    }
    if (isRpc) return this.#serveRpc(request);
    const route = routeOf(request, path);
    return route && this.#serveRest(request, route);
  }

  #serveCard(request: Request): Response {
    const headers = {
      'content-type': 'application/json',
      etag: this.#card.etag,
      'cache-control': 'public, max-age=60',
    };
    if (matches(request.headers.get('if-none-match'), this.#card.etag))
      return new Response(null, { status: 304, headers });
    return new Response(request.method === 'HEAD' ? null : this.#card.body, { headers });
  }

  async #serveRpc(request: Request): Promise<Response> {
    if (request.method !== 'POST') {
      return Response.json(
        { error: 'this is an A2A endpoint: POST JSON-RPC here' },
        { status: 405, headers: { allow: 'POST' } },
      );
    }
    const read = await readJson(request, this.#options.maxRequestBytes);
    if (read.kind === 'refused') return refuse(jsonRpc(null), read.error);
    const call = readEnvelope(read.value);
    if (call.kind === 'refused') return refuse(call.form, call.error);
    return respond(call.form, await this.#operations.run(request, call.method, call.params), this.#streams);
  }

  async #serveRest(request: Request, route: RestRoute): Promise<Response> {
    if (route.kind === 'refused') {
      return refuse(HTTP_JSON, route.error, route.allow === undefined ? {} : { allow: route.allow });
    }
    const read = await readJson(request, this.#options.maxRequestBytes);
    if (read.kind === 'refused') return refuse(HTTP_JSON, read.error);
    if (read.value !== undefined && !isJsonObject(read.value)) {
      return refuse(HTTP_JSON, wireError('INVALID_REQUEST', 'a request is an object'));
    }
    const { method } = route.call;
    const outcome = await this.#operations.run(request, method, route.call.params(read.value));
    return respond(HTTP_JSON, outcome, this.#streams);
  }
}

/** True when an `If-None-Match` names the tag, weakly compared, or everything. */
function matches(header: string | null, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}
