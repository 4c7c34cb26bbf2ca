import { setTimeout as sleep } from 'node:timers/promises';
import { Extensions } from '@a2a-js/sdk';
import { type A2ARequestHandler, JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { HarnessError, type JsonValue, type Logger } from '../../core/base/index.ts';
import { attachCall, type Call, callOf } from './call.ts';
import { SUPPORTED_EXTENSIONS } from './card.ts';
import { checkParams, isMethod, isStreaming } from './check-params.ts';
import { toWireError, type WireError, wireError } from './errors.ts';
import { PARTICIPANT_HEADER } from './identity.ts';
import { MAX_STREAMS_PER_CALLER, StreamSlots } from './stream-slots.ts';

export interface OperationsOptions {
  readonly logger: Logger;
  /** Aborts when the server stops: every stream ends. */
  readonly signal: AbortSignal;
  /** Who a caller without a header is; absent: nobody. */
  readonly defaultParticipant: string | undefined;
}

/** How long a stream waits for its first event, which may turn out to be an error, before it begins. */
const FIRST_EVENT_MS = 500;

/** One event of a stream; an error is the last. */
export type StreamItem =
  | { readonly kind: 'event'; readonly result: unknown; readonly id: number | undefined }
  | { readonly kind: 'error'; readonly error: WireError };

/** What became of an operation, before a binding gives it its form. */
export type Outcome =
  | { readonly kind: 'answer'; readonly result: unknown; readonly headers: Record<string, string> }
  | { readonly kind: 'error'; readonly error: WireError }
  | {
      readonly kind: 'stream';
      readonly items: AsyncGenerator<StreamItem, void, undefined>;
      readonly headers: Record<string, string>;
      /** To be called when the reader goes away. */
      cancel(): void;
    };

const EXTENSIONS_HEADER = 'a2a-extensions';
const VERSION_HEADER = 'a2a-version';

/**
 * The operations of A2A, as every binding runs them: one check of version, method and parameters, one identity, one
 * table of errors. The SDK's transport handler knows the codecs; its envelope goes no further than here.
 */
export class Operations {
  readonly #options: OperationsOptions;
  readonly #transport: JsonRpcTransportHandler;
  readonly #streams = new StreamSlots();

  constructor(handler: A2ARequestHandler, options: OperationsOptions) {
    this.#options = options;
    this.#transport = new JsonRpcTransportHandler(recording(handler));
  }

  /** Runs a method of A2A with parameters as they came. Does not throw. */
  async run(request: Request, method: string, params: JsonValue | undefined): Promise<Outcome> {
    const stop = new AbortController();
    let call: Call;
    try {
      assertVersion(request);
      if (!isMethod(method)) {
        return failed(wireError('METHOD_NOT_FOUND', `there is no method "${method.slice(0, 100)}"`));
      }
      call = this.#callOf(request, method, params, stop.signal);
    } catch (error) {
      return failed(this.#mapped(error));
    }
    const slot = isStreaming(method) ? this.#streams.take(this.#callerOf(call)) : () => {};
    if (slot === undefined) {
      const message = `there are ${MAX_STREAMS_PER_CALLER} open streams of this caller; close one`;
      return failed({ ...wireError('TOO_MANY_STREAMS', message), retryAfterS: 1 });
    }
    const context = contextOf(request, call);
    const body = { jsonrpc: '2.0', id: null, method, params: params ?? {} };
    const answer = await this.#transport.handle(body, context);
    const headers = activatedHeaders(context);
    if (Symbol.asyncIterator in answer) {
      return this.#stream(answer, call, headers, () => {
        slot();
        stop.abort();
      });
    }
    slot();
    if ('error' in answer) {
      return failed(call.error === undefined ? ofTransport(answer.error) : this.#mapped(call.error));
    }
    return { kind: 'answer', result: answer.result, headers };
  }

  /** A stream whose first event fails is an ordinary error; one that fails later says so in its last event. */
  async #stream(
    answers: AsyncGenerator<{ readonly result?: unknown }, void, undefined>,
    call: Call,
    headers: Record<string, string>,
    cancel: () => void,
  ): Promise<Outcome> {
    const first = answers.next();
    const quiet = new AbortController();
    try {
      // A subscriber that is up to date may hear nothing for hours: the stream begins without its first event then.
      await Promise.race([first, sleep(FIRST_EVENT_MS, undefined, { signal: quiet.signal }).catch(() => {})]);
    } catch (error) {
      cancel();
      return failed(this.#mapped(error));
    } finally {
      quiet.abort();
    }
    const mapped = (error: unknown) => this.#mapped(error);
    const items = (async function* (): AsyncGenerator<StreamItem, void, undefined> {
      try {
        for (let next = await first; next.done !== true; next = await answers.next()) {
          yield { kind: 'event', result: next.value.result, id: call.eventId };
        }
      } catch (error) {
        yield { kind: 'error', error: mapped(error) };
      } finally {
        cancel();
        await answers.return();
      }
    })();
    return { kind: 'stream', items, headers, cancel };
  }

  #callOf(request: Request, method: string, params: JsonValue | undefined, stop: AbortSignal): Call {
    const last = Number(request.headers.get('last-event-id') || Number.NaN);
    return {
      ...checkParams(method, params),
      participant: request.headers.get(PARTICIPANT_HEADER),
      signal: AbortSignal.any([request.signal, this.#options.signal, stop]),
      lastEventId: Number.isSafeInteger(last) && last >= 0 ? last : undefined,
      eventId: undefined,
    };
  }

  #callerOf({ participant, send }: Call): string {
    return participant || send?.claim || this.#options.defaultParticipant || '';
  }

  #mapped(error: unknown): WireError {
    const wire = toWireError(error);
    if (wire.http.status >= 500) this.#options.logger.error('a request failed', { error });
    return wire;
  }
}

function failed(error: WireError): Outcome {
  return { kind: 'error', error };
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

/** What the SDK's transport itself refuses: parameters that are no object, an empty name among them. */
function ofTransport(error: unknown): WireError {
  return wireError('INVALID_PARAMS', (error as { message: string }).message);
}
