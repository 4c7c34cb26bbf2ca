import { createHash } from 'node:crypto';
import { Extensions } from '@a2a-js/sdk';
import { A2A_ERROR_CODE } from '@a2a-js/sdk/errors';
import { type A2ARequestHandler, JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { HarnessError, type Logger } from '../../core/base/index.ts';
import { attachCall, type Call, callOf } from './call.ts';
import { SUPPORTED_EXTENSIONS, serializeCard } from './card.ts';
import { protocolError, toWireError, type WireError } from './errors.ts';
import { type HandlerDeps, LogRequestHandler } from './handler.ts';
import { PARTICIPANT_HEADER } from './identity.ts';
import { checkParams, type JsonRpcId, methodProblem, readRpc, rpcError, rpcErrorBody } from './json-rpc.ts';
import type { ParsedSend } from './parse-message.ts';
import { type SseEvent, sseBody } from './sse.ts';

export interface A2AServerOptions extends HandlerDeps {
  readonly maxRequestBytes: number;
  readonly logger: Logger;
  /** Aborts when the server stops: every stream ends. */
  readonly signal: AbortSignal;
}

const EXTENSIONS_HEADER = 'a2a-extensions';
const VERSION_HEADER = 'a2a-version';

/** A2A over HTTP: `Request` in, `Response` out, whatever framework is around it. */
export class A2AServer {
  readonly #options: A2AServerOptions;
  readonly #rpc: JsonRpcTransportHandler;
  readonly #card: { readonly body: string; readonly etag: string };

  constructor(options: A2AServerOptions, handler: A2ARequestHandler = new LogRequestHandler(options)) {
    this.#options = options;
    this.#rpc = new JsonRpcTransportHandler(recording(handler));
    const body = serializeCard(options.card);
    this.#card = { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
  }

  /** Answers a request whose path is below the agent's own URL; undefined for a path that is none of ours. */
  async fetch(request: Request, path: string): Promise<Response | undefined> {
    if (path === '/.well-known/agent-card.json' && (request.method === 'GET' || request.method === 'HEAD')) {
      return this.#serveCard(request);
    }
    if (path === '/' || path === '') {
      if (request.method === 'POST') return this.#serveRpc(request);
      return Response.json(
        { error: 'this is an A2A endpoint: POST JSON-RPC here' },
        { status: 405, headers: { allow: 'POST' } },
      );
    }
    return undefined;
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
    const read = await readRpc(request, this.#options.maxRequestBytes);
    if (read.kind === 'refused') return read.response;
    const { id, method, body } = read;
    const stop = new AbortController();
    let call: Call;
    try {
      assertVersion(request);
      const problem = methodProblem(method);
      if (problem !== undefined) return rpcError(id, problem);
      call = this.#callOf(request, checkParams(method, body.params), stop.signal);
    } catch (error) {
      return rpcError(id, this.#mapped(error));
    }
    const context = contextOf(request, call);
    const answer = await this.#rpc.handle({ ...body }, context);
    const headers = activatedHeaders(context);
    if (Symbol.asyncIterator in answer) {
      return this.#stream(id, answer, call, () => stop.abort(), headers);
    }
    if ('error' in answer) {
      return rpcError(id, call.error === undefined ? ofTransport(answer.error) : this.#mapped(call.error));
    }
    return Response.json(answer, { headers });
  }

  /** A stream whose first event fails is an ordinary error; one that fails later says so in its last event. */
  async #stream(
    id: JsonRpcId,
    answers: AsyncGenerator<unknown, void, undefined>,
    call: Call,
    cancel: () => void,
    headers: Record<string, string>,
  ): Promise<Response> {
    let first: IteratorResult<unknown, void>;
    try {
      first = await answers.next();
    } catch (error) {
      cancel();
      return rpcError(id, this.#mapped(error));
    }
    const mapped = (error: unknown) => JSON.stringify(rpcErrorBody(id, this.#mapped(error)));
    const events = (async function* (): AsyncGenerator<SseEvent, void, undefined> {
      try {
        for (let next = first; next.done !== true; next = await answers.next()) {
          yield { data: JSON.stringify(next.value), id: call.eventId };
        }
      } catch (error) {
        yield { data: mapped(error), id: undefined };
      } finally {
        cancel();
        await answers.return();
      }
    })();
    return new Response(sseBody(events, cancel), {
      headers: {
        ...headers,
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
      },
    });
  }

  #callOf(request: Request, send: ParsedSend | undefined, stop: AbortSignal): Call {
    const last = Number(request.headers.get('last-event-id') ?? Number.NaN);
    return {
      send,
      participant: request.headers.get(PARTICIPANT_HEADER),
      signal: AbortSignal.any([request.signal, this.#options.signal, stop]),
      lastEventId: Number.isSafeInteger(last) && last >= 0 ? last : undefined,
      eventId: undefined,
    };
  }

  #mapped(error: unknown): WireError {
    const wire = toWireError(error);
    if (wire.code === A2A_ERROR_CODE.INTERNAL_ERROR)
      this.#options.logger.error('a request failed', { error });
    return wire;
  }
}

/** Notes what the handler throws, so that its codes are not lost in the SDK's own mapping. */
function recording(handler: A2ARequestHandler): A2ARequestHandler {
  return new Proxy(handler, {
    get(target, property) {
      const member: unknown = Reflect.get(target, property);
      if (typeof member !== 'function') return member;
      return (params: unknown, context?: ServerCallContext) => {
        const result: unknown = Reflect.apply(member, target, [params, context]);
        if (result instanceof Promise) {
          return result.catch((error: unknown) => {
            if (context) callOf(context).error = error;
            throw error;
          });
        }
        return result;
      };
    },
  });
}

/** AS-2: `1.0` and `1.0.x`, in header or query; a missing one means 0.3. */
function assertVersion(request: Request): void {
  const asked =
    request.headers.get(VERSION_HEADER) ?? new URL(request.url).searchParams.get('A2A-Version') ?? '0.3';
  if (/^1\.0(\.\d+)?$/.test(asked.trim())) return;
  throw new HarnessError('input.version', `A2A version ${asked} is not supported; send "A2A-Version: 1.0"`);
}

function contextOf(request: Request, call: Call): ServerCallContext {
  const requested = Extensions.parseServiceParameter(request.headers.get(EXTENSIONS_HEADER) ?? undefined);
  const context = new ServerCallContext({ requestedExtensions: requested, requestedVersion: '1.0' });
  for (const uri of requested) if (SUPPORTED_EXTENSIONS.has(uri)) context.addActivatedExtension(uri);
  attachCall(context, call);
  return context;
}

function activatedHeaders(context: ServerCallContext): Record<string, string> {
  const active = context.activatedExtensions ?? [];
  return active.length === 0 ? {} : { [EXTENSIONS_HEADER]: Extensions.toServiceParameter(active) };
}

/** True when an `If-None-Match` names the tag, weakly compared, or everything. */
function matches(header: string | null, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}

/** What the SDK's transport itself refuses: parameters that are no object, an empty name among them. */
function ofTransport(error: unknown): WireError {
  const { code, message } = error as { code: number; message: string };
  return protocolError(code, 'INVALID_PARAMS', message);
}
