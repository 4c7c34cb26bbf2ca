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
  type WireCall,
  type WireEvents,
} from './model-wire.ts';

/** The Responses format. Usage always comes with the end. */
export const responsesWire: ModelWire = {
  path: '/responses',
  events,
  whole,
  failure: (request, error) => ({
    type: 'response.failed',
    response: responseOf(request, { status: 'failed', error }),
  }),
  frame: (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
  trailer: '',
  hasBrokenHistory,
};

/** Each item of an answer is announced, streamed in pieces, and then said once more as a whole. */
function events(request: JsonObject, reply: AnswerReply, habits: ServerHabits): WireEvents {
  const opened = responseOf(request, { status: 'in_progress' });
  const message = messageOf(reply);
  const calls = callsOf(reply, habits);
  const first = message === undefined ? 0 : 1;
  const content: JsonObject[] = [
    { type: 'response.created', response: opened },
    { type: 'response.in_progress', response: opened },
    ...(message === undefined ? [] : messageEvents(reply, message)),
    ...calls.flatMap((call, n) => callEvents(call, habits.sameIndex === true ? 0 : first + n, n, habits)),
  ];
  const response = whole(request, reply, habits);
  const end = [{ type: `response.${String(response.status)}`, response }];
  return {
    content: content.map((event, n) => ({ ...event, sequence_number: n })),
    end: end.map((event) => ({ ...event, sequence_number: content.length })),
  };
}

function whole(request: JsonObject, reply: AnswerReply, habits: ServerHabits): JsonObject {
  const message = messageOf(reply);
  const output = [
    ...(message === undefined ? [] : [message]),
    ...callsOf(reply, habits).map((call, n) => callItem(call, n)),
  ];
  const reasons: Readonly<Record<string, string>> = {
    length: 'max_output_tokens',
    content_filter: 'content_filter',
  };
  const reason = reasons[reply.finishReason ?? ''];
  return responseOf(request, {
    status: reason === undefined ? 'completed' : 'incomplete',
    incomplete_details: reason === undefined ? null : { reason },
    output,
    usage: usageOf(request, reply),
  });
}

function responseOf(request: JsonObject, fields: JsonObject): JsonObject {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_767_225_600,
    model: modelOf(request),
    error: null,
    incomplete_details: null,
    output: [],
    usage: null,
    ...fields,
  };
}

/** The message of a reply that says anything. */
function messageOf(reply: AnswerReply): JsonObject | undefined {
  const content = contentOf(reply);
  return content.length === 0
    ? undefined
    : { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content };
}

function contentOf({ text, refusal }: AnswerReply): JsonObject[] {
  return [
    ...(text ? [{ type: 'output_text', text, annotations: [] }] : []),
    ...(refusal ? [{ type: 'refusal', refusal }] : []),
  ];
}

function messageEvents(reply: AnswerReply, message: JsonObject): JsonObject[] {
  const parts = contentOf(reply).flatMap((part, n): JsonObject[] => {
    const at = { item_id: 'msg_1', output_index: 0, content_index: n };
    const kind = String(part.type);
    const field = kind === 'refusal' ? 'refusal' : 'text';
    const text = String(part[field]);
    return [
      { type: 'response.content_part.added', ...at, part: { ...part, [field]: '' } },
      ...piecesOf(text).map((delta) => ({ type: `response.${kind}.delta`, ...at, delta })),
      { type: `response.${kind}.done`, ...at, [field]: text },
      { type: 'response.content_part.done', ...at, part },
    ];
  });
  return itemEvents(0, message, { ...message, status: 'in_progress', content: [] }, parts);
}

function callEvents(call: WireCall, outputIndex: number, n: number, habits: ServerHabits): JsonObject[] {
  const item = callItem(call, n);
  const at = { item_id: `fc_${n}`, output_index: outputIndex };
  return itemEvents(outputIndex, item, { ...item, status: 'in_progress', arguments: '' }, [
    ...argumentPieces(call.arguments, habits).map((delta) => ({
      type: 'response.function_call_arguments.delta',
      ...at,
      delta,
    })),
    { type: 'response.function_call_arguments.done', ...at, arguments: call.arguments },
  ]);
}

function itemEvents(
  outputIndex: number,
  item: JsonObject,
  begun: JsonObject,
  between: readonly JsonObject[],
): JsonObject[] {
  return [
    { type: 'response.output_item.added', output_index: outputIndex, item: begun },
    ...between,
    { type: 'response.output_item.done', output_index: outputIndex, item },
  ];
}

/** An item has an id of its own beside the one of the call, which is how the result is addressed. */
function callItem({ id, name, arguments: text }: WireCall, n: number): JsonObject {
  return {
    id: `fc_${n}`,
    type: 'function_call',
    status: 'completed',
    ...(id !== undefined && { call_id: id }),
    name,
    arguments: text,
  };
}

function hasBrokenHistory(request: JsonObject): boolean {
  const input = Array.isArray(request.input) ? (request.input as readonly JsonValue[]) : [];
  return input.some(
    (item) => isJsonObject(item) && item.type === 'function_call' && !isJsonText(item.arguments),
  );
}

function usageOf(request: JsonObject, reply: AnswerReply): JsonObject {
  const { input, cached, output, reasoning } = tokensOf(
    [request.instructions ?? '', request.input ?? ''],
    reply,
  );
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: { cached_tokens: cached },
    output_tokens_details: { reasoning_tokens: reasoning },
  };
}
