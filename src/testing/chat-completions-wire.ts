import { isJsonObject, type JsonObject, type JsonValue } from '../core/base/index.ts';
import type { AnswerReply, ServerHabits } from './model-server-replies.ts';

/** The events of a streamed answer, in three parts so that a server can stop between them. */
export interface ChatEvents {
  readonly content: readonly JsonObject[];
  /** Finish and usage. */
  readonly end: readonly JsonObject[];
}

/** A streamed Chat Completions answer, with the habits asked for. Usage comes only when the request asks for it. */
export function chatEvents(request: JsonObject, reply: AnswerReply, habits: ServerHabits): ChatEvents {
  const chunk = (choices: JsonValue, more: JsonObject = {}): JsonObject => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_767_225_600,
    model: modelOf(request),
    choices,
    ...more,
  });
  const delta = (fields: JsonObject) => chunk([{ index: 0, delta: fields, finish_reason: null }]);
  const options = request.stream_options;
  const wantsUsage = isJsonObject(options) && options.include_usage === true;
  return {
    content: [
      delta({ role: 'assistant', content: habits.contentNullFirst === true ? null : '' }),
      ...pieces(reply.text ?? '', 5).map((content) => delta({ content })),
      ...pieces(reply.refusal ?? '', 5).map((refusal) => delta({ refusal })),
      ...callDeltas(reply, habits).map((one) => delta({ tool_calls: [one] })),
    ],
    end: [
      chunk([{ index: 0, delta: {}, finish_reason: finishOf(reply) }]),
      ...(wantsUsage ? [chunk([], { usage: usageOf(request, reply) })] : []),
    ],
  };
}

/** The same answer in one piece. */
export function chatCompletion(request: JsonObject, reply: AnswerReply, habits: ServerHabits): JsonObject {
  const calls = wireCalls(reply, habits).map(({ id, type, function: called }) => ({
    ...(id !== undefined && { id }),
    type,
    function: called,
  }));
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_767_225_600,
    model: modelOf(request),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: reply.text ?? null,
          refusal: reply.refusal ?? null,
          ...(calls.length > 0 && { tool_calls: calls }),
        },
        finish_reason: finishOf(reply),
      },
    ],
    usage: usageOf(request, reply),
  };
}

/** True when the history of a request has a call whose arguments are not JSON. */
export function hasBrokenHistory(request: JsonObject): boolean {
  const messages = Array.isArray(request.messages) ? (request.messages as readonly JsonValue[]) : [];
  return messages.some((message) => {
    const calls = isJsonObject(message) ? message.tool_calls : undefined;
    return Array.isArray(calls) && (calls as readonly JsonValue[]).some((call) => !isSound(call));
  });
}

function isSound(call: JsonValue): boolean {
  const called = isJsonObject(call) ? call.function : undefined;
  if (!isJsonObject(called) || typeof called.arguments !== 'string') return false;
  try {
    JSON.parse(called.arguments);
    return true;
  } catch {
    return false;
  }
}

type WireCall = {
  readonly index: number;
  readonly id?: string;
  readonly type: string;
  readonly function: { readonly name: string; readonly arguments: string };
};

function wireCalls(reply: AnswerReply, habits: ServerHabits): WireCall[] {
  const ids = {
    call: (n: number) => `call_abc${n}`,
    bare: (n: number) => `Xy7kQ2${n}`,
    none: () => undefined,
  };
  const once = (reply.calls ?? []).map((call, position) => {
    const id = call.id ?? ids[habits.ids ?? 'call'](position);
    const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
    return {
      ...(id !== undefined && { id }),
      type: 'function',
      function: { name: call.name, arguments: text },
    };
  });
  const all = habits.repeatCalls === true ? once.flatMap((call) => [call, call]) : once;
  return all.map((call, index) => ({ index: habits.sameIndex === true ? 0 : index, ...call }));
}

function callDeltas(reply: AnswerReply, habits: ServerHabits): JsonObject[] {
  return wireCalls(reply, habits).flatMap((call): JsonObject[] => {
    if (habits.argumentCharacters !== true) return [call];
    const { index, function: called } = call;
    return [
      { ...call, function: { name: called.name, arguments: '' } },
      ...Array.from(called.arguments, (character) => ({ index, function: { arguments: character } })),
    ];
  });
}

function finishOf(reply: AnswerReply): string {
  return reply.finishReason ?? ((reply.calls ?? []).length > 0 ? 'tool_calls' : 'stop');
}

function usageOf(request: JsonObject, reply: AnswerReply): JsonObject {
  const input = reply.usage?.input ?? Math.ceil(JSON.stringify(request.messages ?? '').length / 4);
  const output =
    reply.usage?.output ?? Math.ceil(((reply.text ?? '') + JSON.stringify(reply.calls ?? [])).length / 4);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: reply.usage?.cached ?? 0 },
    completion_tokens_details: { reasoning_tokens: reply.usage?.reasoning ?? 0 },
  };
}

function modelOf(request: JsonObject): string {
  return typeof request.model === 'string' ? request.model : 'test-model';
}

function pieces(text: string, size: number): string[] {
  return text.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? [];
}
