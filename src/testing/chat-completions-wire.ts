import { isJsonObject, type JsonObject, type JsonValue } from '../core/base/index.ts';
import type { AnswerReply, ServerHabits } from './model-server-replies.ts';
import {
  argumentPieces,
  callsOf,
  isJsonText,
  type ModelWire,
  modelOf,
  piecesOf,
  tokensOf,
  type WireEvents,
} from './model-wire.ts';

/** The Chat Completions format. Usage is streamed only when the request asks for it. */
export const chatCompletionsWire: ModelWire = {
  path: '/chat/completions',
  events,
  whole,
  failure: (_, error) => ({ error }),
  frame: (event) => `data: ${JSON.stringify(event)}\n\n`,
  trailer: 'data: [DONE]\n\n',
  hasBrokenHistory,
};

function events(request: JsonObject, reply: AnswerReply, habits: ServerHabits): WireEvents {
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
      ...piecesOf(reply.text ?? '').map((content) => delta({ content })),
      ...piecesOf(reply.refusal ?? '').map((refusal) => delta({ refusal })),
      ...callDeltas(reply, habits).map((one) => delta({ tool_calls: [one] })),
    ],
    end: [
      chunk([{ index: 0, delta: {}, finish_reason: finishOf(reply) }]),
      ...(wantsUsage ? [chunk([], { usage: usageOf(request, reply) })] : []),
    ],
  };
}

function whole(request: JsonObject, reply: AnswerReply, habits: ServerHabits): JsonObject {
  const calls = toolCalls(reply, habits);
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

function hasBrokenHistory(request: JsonObject): boolean {
  const messages = Array.isArray(request.messages) ? (request.messages as readonly JsonValue[]) : [];
  return messages.some((message) => {
    const calls = isJsonObject(message) ? message.tool_calls : undefined;
    return Array.isArray(calls) && (calls as readonly JsonValue[]).some((call) => !isSound(call));
  });
}

function isSound(call: JsonValue): boolean {
  const called = isJsonObject(call) ? call.function : undefined;
  return isJsonObject(called) && isJsonText(called.arguments);
}

function toolCalls(reply: AnswerReply, habits: ServerHabits) {
  return callsOf(reply, habits).map(({ id, name, arguments: text }) => ({
    ...(id !== undefined && { id }),
    type: 'function',
    function: { name, arguments: text },
  }));
}

function callDeltas(reply: AnswerReply, habits: ServerHabits): JsonObject[] {
  return toolCalls(reply, habits).flatMap((call, position): JsonObject[] => {
    const index = habits.sameIndex === true ? 0 : position;
    if (habits.argumentCharacters !== true) return [{ index, ...call }];
    const { name, arguments: text } = call.function;
    return [
      { index, ...call, function: { name, arguments: '' } },
      ...argumentPieces(text, habits).map((piece) => ({ index, function: { arguments: piece } })),
    ];
  });
}

function finishOf(reply: AnswerReply): string {
  return reply.finishReason ?? ((reply.calls ?? []).length > 0 ? 'tool_calls' : 'stop');
}

function usageOf(request: JsonObject, reply: AnswerReply): JsonObject {
  const { input, cached, output, reasoning } = tokensOf(request.messages, reply);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
