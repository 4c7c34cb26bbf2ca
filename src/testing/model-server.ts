import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { isJsonObject, type JsonObject } from '../core/base/index.ts';
import { chatCompletion, chatEvents, hasBrokenHistory } from './chat-completions-wire.ts';
import type { AnswerReply, FaultReply, ModelReply, ServerHabits } from './model-server-replies.ts';

/** A request as it arrived. */
export interface RecordedRequest {
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
  /** Habits of every reply that does not bring its own. */
  readonly habits?: ServerHabits;
}

/** A running model server. */
export interface ModelServer extends AsyncDisposable {
  /** The base URL, up to and with `/v1`. */
  readonly url: string;
  /** Every request, oldest first. */
  readonly requests: readonly RecordedRequest[];
  /** Requests whose reply was delivered to the end. */
  readonly completed: number;
  /** Ends open connections, and resolves when the port is free. */
  close(): Promise<void>;
}

/**
 * Starts a real HTTP server on a free port of 127.0.0.1 that speaks Chat Completions, streamed and whole, and goes
 * wrong in every way the script asks for. A request after the last reply gets 400 with a message that says so: no
 * client tries that again.
 */
export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const requests: RecordedRequest[] = [];
  let completed = 0;
  const server = createServer((request, response) => {
    let isFault = false;
    const closed = new Promise<boolean>((resolve) => {
      response.once('close', () => {
        if (response.writableFinished && !isFault) completed++;
        resolve(response.writableFinished);
      });
    });
    const handle = async () => {
      const body = parse(await readText(request));
      const record = { path: request.url ?? '', headers: request.headers, body, closed };
      const number = requests.push(record);
      const reply = hasRoute(request) ? await replyOf(options, body, number) : notFound(record.path);
      isFault = 'fault' in reply;
      await answer(response, body, reply, options.habits ?? {});
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
    get completed() {
      return completed;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function hasRoute(request: IncomingMessage): boolean {
  return request.method === 'POST' && request.url?.startsWith('/v1/chat/completions') === true;
}

function notFound(path: string): ModelReply {
  return { fault: 'status', status: 404, body: { error: { message: `no such path: ${path}` } } };
}

async function replyOf(options: ModelServerOptions, body: JsonObject, number: number): Promise<ModelReply> {
  if (options.habits?.refuseBrokenHistory === true && hasBrokenHistory(body)) {
    const error = { code: 500, message: 'Failed to parse tool call arguments as JSON', type: 'server_error' };
    return { fault: 'status', status: 500, body: { error } };
  }
  if (typeof options.replies === 'function') return options.replies(body, number);
  const message = `the model server has ${options.replies.length} replies and this is request ${number}`;
  return options.replies[number - 1] ?? { fault: 'status', status: 400, body: { error: { message } } };
}

async function answer(
  response: ServerResponse,
  body: JsonObject,
  reply: ModelReply,
  serverHabits: ServerHabits,
): Promise<void> {
  if ('raw' in reply) {
    openStream(response);
    for (const line of reply.raw) response.write(`${line}\n`);
  } else if ('fault' in reply) await fail(response, body, reply, serverHabits);
  else await succeed(response, body, reply, reply.habits ?? serverHabits);
}

async function succeed(
  response: ServerResponse,
  body: JsonObject,
  reply: AnswerReply,
  habits: ServerHabits,
): Promise<void> {
  if (reply.delayMs !== undefined) await wait(reply.delayMs);
  if (body.stream !== true) {
    await reply.hold;
    await reply.holdFinish;
    sendJson(response, 200, chatCompletion(body, reply, habits));
    return;
  }
  openStream(response);
  for (let n = 0; n < (habits.commentLines ?? 0); n++) response.write(': still reading\n\n');
  const comments =
    habits.commentEveryMs === undefined
      ? undefined
      : setInterval(() => response.write(': still reading\n\n'), habits.commentEveryMs);
  response.once('close', () => clearInterval(comments));
  await reply.hold;
  clearInterval(comments);
  const { content, end } = chatEvents(body, reply, habits);
  sendEvents(response, content);
  await reply.holdFinish;
  sendEvents(response, end);
  response.write('data: [DONE]\n\n');
}

async function fail(
  response: ServerResponse,
  body: JsonObject,
  reply: FaultReply,
  habits: ServerHabits,
): Promise<void> {
  switch (reply.fault) {
    case 'status': {
      const { status, headers = {}, body: content = '' } = reply;
      if (typeof content === 'string') response.writeHead(status, headers).end(content);
      else sendJson(response, status, content, headers);
      return;
    }
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'reset_midway': {
      openStream(response);
      const { content } = chatEvents(body, { text: 'half of an answer' }, habits);
      await new Promise<void>((resolve) => {
        response.write(lines(content), () => resolve());
      });
      response.socket?.resetAndDestroy();
      return;
    }
    case 'truncate': {
      openStream(response);
      const { content } = chatEvents(body, reply, reply.habits ?? habits);
      sendEvents(response, content.slice(0, Math.ceil(content.length / 2)));
      return;
    }
    case 'no_finish':
      openStream(response);
      sendEvents(response, chatEvents(body, reply, reply.habits ?? habits).content);
      return;
    case 'invalid_json':
      if (body.stream === true) openStream(response);
      else response.writeHead(200, { 'content-type': 'application/json' });
      response.write('data: {"choices": [{"delta"\n\n');
  }
}

function openStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.flushHeaders();
}

function sendEvents(response: ServerResponse, events: readonly JsonObject[]): void {
  response.write(lines(events));
}

function lines(events: readonly JsonObject[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function parse(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
