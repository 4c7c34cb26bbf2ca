import type OpenAI from 'openai';
import type { LlmInputItem, LlmRequest, ToolDefinition } from '../../../../core/models/index.ts';
import { soundArguments } from '../arguments.ts';
import { plain, type ToolNames } from '../tool-names.ts';
import type { RequestSettings } from '../wire-format.ts';

type Body = OpenAI.Responses.ResponseCreateParamsStreaming;
type Item = OpenAI.Responses.ResponseInputItem;

/**
 * The Responses body of a request (MD-2). Pure.
 *
 * With `store: false` the endpoint keeps nothing, so the whole history goes in every request, without the reasoning:
 * an item of it may be sent back only with its encrypted content, which belongs to one provider's model, and a
 * harness's history outlives both. Nothing requires it: a call is bound to its reasoning by its item id, which is not
 * sent, and a model that is shown its calls without it thinks afresh.
 */
export function responsesBody(request: LlmRequest, names: ToolNames, settings: RequestSettings): Body {
  const { instructions, tools, output, cacheKey, effort } = request;
  return {
    model: settings.model,
    ...(instructions !== '' && { instructions: instructions.toWellFormed() }),
    input: request.input.flatMap((item) => itemsOf(item, names)),
    ...(tools.length > 0 && { tools: tools.map((tool) => toolOf(tool, names)) }),
    ...(output !== undefined && {
      text: {
        format: {
          type: 'json_schema',
          name: plain(output.name),
          schema: { ...output.schema },
          strict: false,
        },
      },
    }),
    ...(cacheKey !== undefined && { prompt_cache_key: cacheKey }),
    ...(effort !== undefined && { reasoning: { effort } }),
    max_output_tokens: settings.maxOutputTokens,
    store: false,
    stream: true,
  };
}

/** Not strict: that mode takes a part of JSON Schema only, and tools bring any schema. It is the default here. */
function toolOf(tool: ToolDefinition, names: ToolNames): OpenAI.Responses.FunctionTool {
  return {
    type: 'function',
    name: names.toProvider(tool.name),
    description: tool.description.toWellFormed(),
    parameters: { ...tool.inputSchema },
    strict: false,
  };
}

function itemsOf(item: LlmInputItem, names: ToolNames): Item[] {
  const text = item.text.toWellFormed();
  if (item.type === 'user') return [{ type: 'message', role: 'user', content: text }];
  if (item.type === 'tool_result') {
    return [{ type: 'function_call_output', call_id: item.callId, output: text }];
  }
  const calls = item.calls.map(
    (call): Item => ({
      type: 'function_call',
      call_id: call.id,
      name: names.toProvider(call.name),
      arguments: soundArguments(call.arguments),
    }),
  );
  return text === '' ? calls : [{ type: 'message', role: 'assistant', content: text }, ...calls];
}
