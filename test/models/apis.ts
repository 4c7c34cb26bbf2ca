import { expect } from 'vitest';
import {
  createChatCompletionsLlm,
  createResponsesLlm,
  type OpenAiLlm,
  type OpenAiLlmOptions,
} from '../../src/adapters/models/openai/index.ts';
import { createAbort } from '../../src/core/base/index.ts';
import { invokeLlm, type LlmEvent, type LlmInputItem, type LlmRequest } from '../../src/core/models/index.ts';
import { type ModelReply, type ServerHabits, startModelServer } from '../../src/testing/index.ts';

/** One of the two APIs, as the tests that run over both see it. */
export interface Api {
  readonly api: 'chat_completions' | 'responses';
  readonly path: string;
  readonly create: (options: OpenAiLlmOptions) => OpenAiLlm;
}

export const APIS: readonly Api[] = [
  { api: 'chat_completions', path: '/chat/completions', create: createChatCompletionsLlm },
  { api: 'responses', path: '/responses', create: createResponsesLlm },
];

/** A signal that nobody aborts. */
export const never = createAbort().signal;

const readTool = {
  name: 'local/files.read',
  description: 'reads a file',
  inputSchema: { type: 'object' },
};

/** A call of it, as the model spells it. */
export const readCall = { name: 'local_files_read', arguments: { path: 'a.txt' } };

export function requestOf(...input: LlmInputItem[]): LlmRequest {
  return { instructions: 'be brief', input: [{ type: 'user', text: 'hi' }, ...input], tools: [readTool] };
}

export function llmWith(api: Api, options: Partial<OpenAiLlmOptions>): OpenAiLlm {
  return api.create({ model: 'test-model', timeoutMs: 5000, maxOutputTokens: 100, ...options });
}

/** One request to a server with this reply and these habits: the answer, and the pieces of text before it. */
export async function ask(
  api: Api,
  reply: ModelReply,
  habits: ServerHabits = {},
  request: LlmRequest = requestOf(),
) {
  await using server = await startModelServer({ replies: [reply], habits });
  const pieces: string[] = [];
  const llm = llmWith(api, { baseUrl: server.url });
  const response = await invokeLlm(llm, request, never, (piece) => pieces.push(piece));
  return { response, pieces };
}

/** The error of one request to a server with this reply. */
export async function errorOf(
  api: Api,
  reply: ModelReply,
  options: Partial<OpenAiLlmOptions> = {},
): Promise<unknown> {
  await using server = await startModelServer({ replies: [reply] });
  return await invokeLlm(llmWith(api, { baseUrl: server.url, ...options }), requestOf(), never).then(
    (response) => expect.fail(`answered ${JSON.stringify(response)}`),
    (error: unknown) => error,
  );
}

/** Every event, and the error that ended the stream. */
export async function collect(
  events: AsyncIterable<LlmEvent>,
): Promise<{ readonly events: readonly LlmEvent[]; readonly error: unknown }> {
  const seen: LlmEvent[] = [];
  try {
    for await (const event of events) seen.push(event);
    return { events: seen, error: undefined };
  } catch (error) {
    return { events: seen, error };
  }
}
