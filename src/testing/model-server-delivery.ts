import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject } from '../core/base/index.ts';
import type { AnswerReply, FaultReply, ModelReply, ServerHabits } from './model-server-replies.ts';
import type { ModelWire } from './model-wire.ts';

/** A request that waits for its reply, and how it is spoken to. */
export interface Delivery {
  readonly response: ServerResponse;
  readonly wire: ModelWire;
  readonly body: JsonObject;
  /** Habits of every reply that does not bring its own. */
  readonly habits: ServerHabits;
}

/** Delivers one reply, or goes wrong as it says. Does not end the response. */
export async function deliver(reply: ModelReply, to: Delivery): Promise<void> {
  if ('raw' in reply) {
    openStream(to.response);
    for (const line of reply.raw) to.response.write(`${line}\n`);
  } else if ('fault' in reply) await fail(reply, to);
  else await succeed(reply, { ...to, habits: reply.habits ?? to.habits });
}

async function succeed(reply: AnswerReply, to: Delivery): Promise<void> {
  const { response, wire, body, habits } = to;
  if (reply.delayMs !== undefined) await wait(reply.delayMs);
  if (body.stream !== true) {
    await reply.hold;
    await reply.holdFinish;
    sendJson(response, 200, wire.whole(body, reply, habits));
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
  const { content, end } = wire.events(body, reply, habits);
  sendEvents(to, content);
  await reply.holdFinish;
  sendEvents(to, end);
  if (wire.trailer !== '') response.write(wire.trailer);
}

async function fail(reply: FaultReply, to: Delivery): Promise<void> {
  const { response, wire, body, habits } = to;
  const halfAnAnswer = () => wire.events(body, { text: 'half of an answer' }, habits).content;
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
    case 'reset_midway':
      openStream(response);
      await new Promise<void>((resolve) => {
        response.write(halfAnAnswer().map(wire.frame).join(''), () => resolve());
      });
      response.socket?.resetAndDestroy();
      return;
    case 'error_midway':
      openStream(response);
      sendEvents(to, [...halfAnAnswer(), wire.failure(body, reply.error)]);
      return;
    case 'truncate': {
      openStream(response);
      const { content } = wire.events(body, reply, reply.habits ?? habits);
      sendEvents(to, content.slice(0, Math.ceil(content.length / 2)));
      return;
    }
    case 'no_finish':
      openStream(response);
      sendEvents(to, wire.events(body, reply, reply.habits ?? habits).content);
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

function sendEvents({ response, wire }: Delivery, events: readonly JsonObject[]): void {
  response.write(events.map(wire.frame).join(''));
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
