import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { isJsonObject, type JsonObject } from '../core/base/index.ts';
import { chatCompletionsWire } from './chat-completions-wire.ts';
import { proposedHelp } from './help-decision.ts';
import { deliver } from './model-server-delivery.ts';
import type { ModelReply, ServerHabits } from './model-server-replies.ts';
import type { ModelWire } from './model-wire.ts';
import { responsesWire } from './responses-wire.ts';

const WIRES: readonly ModelWire[] = [chatCompletionsWire, responsesWire];

/** A request as it arrived. */
export interface RecordedRequest {
  /** Which API was asked: `/v1/chat/completions` or `/v1/responses`. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
  /** Settles when the connection is done with this request: true when the reply was delivered to its end. */
  readonly closed: Promise<boolean>;
}

/** What `startModelServer` needs. */
export interface ModelServerOptions {
  /** The replies in order, or a function of the parsed body and the number of the request (from 1). */
  readonly replies:
    | readonly ModelReply[]
    | ((body: JsonObject, requestNumber: number) => ModelReply | Promise<ModelReply>);
  /** Decides how a participant is reached (PC-7), given the proposal as JSON. Default: as proposed. */
  readonly decideHelp?: (proposal: string) => ModelReply;
  /** Habits of every reply that does not bring its own. */
  readonly habits?: ServerHabits;
}

/** A running model server. */
export interface ModelServer extends AsyncDisposable {
  /** The base URL, up to and with `/v1`. */
  readonly url: string;
  /** Every request, oldest first. */
  readonly requests: readonly RecordedRequest[];
  /** Requests that decide how a participant is reached (PC-7), oldest first. They are no part of the replies. */
  readonly helpRequests: readonly RecordedRequest[];
  /** Requests whose reply was delivered to the end. */
  readonly completed: number;
  /** Ends open connections, and resolves when the port is free. */
  close(): Promise<void>;
}

/**
 * Starts a real HTTP server on a free port of 127.0.0.1 that speaks Chat Completions and Responses, streamed and whole,
 * and goes wrong in every way the script asks for. The replies are the same for both formats. A request after the last
 * reply gets 400 with a message that says so: no client tries that again.
 */
export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const requests: RecordedRequest[] = [];
  const helpRequests: RecordedRequest[] = [];
  let completed = 0;
  const server = createServer((request, response) => {
    let isFault = false;
    let isHelp = false;
    const closed = new Promise<boolean>((resolve) => {
      response.once('close', () => {
        if (response.writableFinished && !isFault && !isHelp) completed++;
        resolve(response.writableFinished);
      });
    });
    const handle = async () => {
      const body = parse(await readText(request));
      const record = { path: request.url ?? '', headers: request.headers, body, closed };
      const wire = wireOf(request);
      const proposal = proposedHelp(body);
      isHelp = proposal !== undefined;
      const number = (isHelp ? helpRequests : requests).push(record);
      const asked =
        proposal === undefined ? undefined : (options.decideHelp?.(proposal) ?? { text: proposal });
      const reply = asked ?? (wire ? await replyOf(options, wire, body, number) : notFound(record.path));
      isFault = 'fault' in reply;
      await deliver(reply, {
        response,
        wire: wire ?? chatCompletionsWire,
        body,
        habits: options.habits ?? {},
      });
      if (!response.destroyed && !response.writableEnded) response.end();
    };
    handle().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve, reject) => {
      server.close((error) => (error === undefined ? resolve() : reject(error)));
      server.closeAllConnections();
    });
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    helpRequests,
    get completed() {
      return completed;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function wireOf({ method, url = '' }: IncomingMessage): ModelWire | undefined {
  const [path] = url.split('?', 1);
  return method === 'POST' ? WIRES.find((wire) => path === `/v1${wire.path}`) : undefined;
}

function notFound(path: string): ModelReply {
  return { fault: 'status', status: 404, body: { error: { message: `no such path: ${path}` } } };
}

async function replyOf(
  options: ModelServerOptions,
  wire: ModelWire,
  body: JsonObject,
  number: number,
): Promise<ModelReply> {
  if (options.habits?.refuseBrokenHistory === true && wire.hasBrokenHistory(body)) {
    const error = { code: 500, message: 'Failed to parse tool call arguments as JSON', type: 'server_error' };
    return { fault: 'status', status: 500, body: { error } };
  }
  if (typeof options.replies === 'function') return options.replies(body, number);
  const message = `the model server has ${options.replies.length} replies and this is request ${number}`;
  return options.replies[number - 1] ?? { fault: 'status', status: 400, body: { error: { message } } };
}

function parse(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
