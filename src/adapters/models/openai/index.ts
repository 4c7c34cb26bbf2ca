/**
 * Models behind OpenAI's wire formats, through the official SDK: the Responses API, and the Chat Completions API of
 * OpenAI and of the many servers that speak it. The folder turns an `LlmRequest` into a body, a stream of events into
 * `LlmEvent`s, and every failure into a `ProviderError`; what the two formats share is done once, and each has a
 * folder for what it does not. It must not retry (the caller does), read the environment, run a tool call, or send
 * anything to a host that was not configured.
 */
import { CHAT_COMPLETIONS } from './chat-completions/format.ts';
import { OpenAiLlm, type OpenAiLlmOptions } from './openai-llm.ts';
import { RESPONSES } from './responses/format.ts';

export type { OpenAiLlm, OpenAiLlmOptions };

/**
 * A model behind the Chat Completions API: OpenAI's, or a compatible server (Ollama, vLLM, LM Studio, llama.cpp).
 *
 * @throws ConfigError when the endpoint is not acceptable (MD-5).
 */
export function createChatCompletionsLlm(options: OpenAiLlmOptions): OpenAiLlm {
  return new OpenAiLlm(CHAT_COMPLETIONS, options);
}

/**
 * A model behind the Responses API: OpenAI's, or a server that speaks it too. Nothing is kept there between requests.
 *
 * @throws ConfigError when the endpoint is not acceptable (MD-5).
 */
export function createResponsesLlm(options: OpenAiLlmOptions): OpenAiLlm {
  return new OpenAiLlm(RESPONSES, options);
}
