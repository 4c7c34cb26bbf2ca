import type OpenAI from 'openai';
import type { LlmInputItem, LlmRequest, ToolCall } from '../../../../core/models/index.ts';
import { soundArguments } from '../arguments.ts';
import { plain, type ToolNames } from '../tool-names.ts';
import type { RequestSettings } from '../wire-format.ts';

type Body = OpenAI.ChatCompletionCreateParamsStreaming;
type Message = OpenAI.ChatCompletionMessageParam;

/** The Chat Completions body of a request (MD-2): `max_tokens`, never `store`, usage asked for. Pure. */
export function chatCompletionsBody(request: LlmRequest, names: ToolNames, settings: RequestSettings): Body {
  const { output, cacheKey, effort } = request;
  return {
    model: settings.model,
    messages: messages(request, names),
    ...(request.tools.length > 0 && { tools: request.tools.map((tool) => toolOf(tool, names)) }),
    ...(output !== undefined && {
      response_format: {
        type: 'json_schema',
        json_schema: { name: plain(output.name), schema: { ...output.schema } },
      },
    }),
    ...(settings.isOpenAi && cacheKey !== undefined && { prompt_cache_key: cacheKey }),
    ...(effort !== undefined && { reasoning_effort: effort }),
    max_tokens: settings.maxOutputTokens,
    stream: true,
    stream_options: { include_usage: true },
  };
}

function toolOf(tool: LlmRequest['tools'][number], names: ToolNames): OpenAI.ChatCompletionFunctionTool {
  return {
    type: 'function',
    function: {
      name: names.toProvider(tool.name),
      description: tool.description.toWellFormed(),
      parameters: { ...tool.inputSchema },
    },
  };
}

function messages(request: LlmRequest, names: ToolNames): Message[] {
  const result: Message[] = [];
  if (request.instructions !== '') {
    result.push({ role: 'system', content: request.instructions.toWellFormed() });
  }
  for (const item of mergeTurns(request.input)) {
    const text = item.text.toWellFormed();
    if (item.type === 'user') result.push({ role: 'user', content: text });
    else if (item.type === 'tool_result') {
      result.push({ role: 'tool', tool_call_id: item.callId, content: text });
    } else if (item.calls.length > 0) {
      const calls = item.calls.map((call) => callOf(call, names));
      result.push({ role: 'assistant', content: text === '' ? null : text, tool_calls: calls });
    } else if (text !== '') result.push({ role: 'assistant', content: text });
    // An assistant message with neither text nor calls says nothing, and some servers refuse it.
  }
  return result;
}

/** Neighbouring assistant items are one turn: their text and calls go in one message. */
function mergeTurns(items: readonly LlmInputItem[]): LlmInputItem[] {
  const merged: LlmInputItem[] = [];
  for (const item of items) {
    const last = merged.at(-1);
    if (item.type !== 'assistant' || last?.type !== 'assistant') merged.push(item);
    else {
      const text = [last.text, item.text].filter((part) => part !== '').join('\n');
      merged[merged.length - 1] = { type: 'assistant', text, calls: [...last.calls, ...item.calls] };
    }
  }
  return merged;
}

function callOf(call: ToolCall, names: ToolNames): OpenAI.ChatCompletionMessageFunctionToolCall {
  return {
    id: call.id,
    type: 'function',
    function: { name: names.toProvider(call.name), arguments: soundArguments(call.arguments) },
  };
}
