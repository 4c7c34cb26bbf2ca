import type { JsonObject, JsonValue } from '../core/base/index.ts';
import type { LlmUsage } from '../core/models/index.ts';
import type { AnswerReply, ServerHabits } from './model-server-replies.ts';

/** The events of a streamed answer, in two parts so that a server can stop between them. */
export interface WireEvents {
  readonly content: readonly JsonObject[];
  /** Finish and usage. */
  readonly end: readonly JsonObject[];
}

/** One of the formats that the model server speaks. */
export interface ModelWire {
  /** The path that is asked, below the base URL. */
  readonly path: string;
  /** A streamed answer, with the habits asked for. */
  events(request: JsonObject, reply: AnswerReply, habits: ServerHabits): WireEvents;
  /** The same answer in one piece. */
  whole(request: JsonObject, reply: AnswerReply, habits: ServerHabits): JsonObject;
  /** The event that reports a failure inside a stream. */
  failure(request: JsonObject, error: JsonObject): JsonObject;
  /** An event as it crosses the wire. */
  frame(event: JsonObject): string;
  /** What comes after the last event of a whole answer. */
  readonly trailer: string;
  /** True when the history of a request has a call whose arguments are not JSON. */
  hasBrokenHistory(request: JsonObject): boolean;
}

/** A call as both formats have it; without an id when the habit says so. */
export interface WireCall {
  readonly id?: string;
  readonly name: string;
  readonly arguments: string;
}

/** The calls of a reply, with the habits asked for. */
export function callsOf(reply: AnswerReply, habits: ServerHabits): WireCall[] {
  const ids = {
    call: (n: number) => `call_abc${n}`,
    bare: (n: number) => `Xy7kQ2${n}`,
    none: () => undefined,
  };
  const once = (reply.calls ?? []).map((call, position): WireCall => {
    const id = call.id ?? ids[habits.ids ?? 'call'](position);
    const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
    return { ...(id !== undefined && { id }), name: call.name, arguments: text };
  });
  return habits.repeatCalls === true ? once.flatMap((call) => [call, call]) : once;
}

/** Tokens of an answer: what the reply says, else four characters each. */
export function tokensOf(prompt: JsonValue | undefined, reply: AnswerReply): LlmUsage {
  const tokens = (text: string) => Math.ceil(text.length / 4);
  return {
    input: reply.usage?.input ?? tokens(JSON.stringify(prompt ?? '')),
    cached: reply.usage?.cached ?? 0,
    output: reply.usage?.output ?? tokens((reply.text ?? '') + JSON.stringify(reply.calls ?? [])),
    reasoning: reply.usage?.reasoning ?? 0,
  };
}

/** The model a request names. */
export function modelOf(request: JsonObject): string {
  return typeof request.model === 'string' ? request.model : 'test-model';
}

/** A text as it is streamed. */
export function piecesOf(text: string, size = 5): string[] {
  return text.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? [];
}

/** The arguments of a call as they are streamed. */
export function argumentPieces(text: string, habits: ServerHabits): string[] {
  return habits.argumentCharacters === true ? Array.from(text) : [text];
}

/** True for a text that is JSON. */
export function isJsonText(text: JsonValue | undefined): boolean {
  if (typeof text !== 'string') return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
