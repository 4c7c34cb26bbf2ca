/**
 * Models behind OpenAI's wire formats, through the official SDK: the Chat Completions API of OpenAI and of the many
 * servers that speak it. The folder turns an `LlmRequest` into a body, a stream of events into `LlmEvent`s, and every
 * failure into a `ProviderError`. It must not retry (the caller does), read the environment, run a tool call, or send
 * anything to a host that was not configured.
 */
export { type ChatCompletionsOptions, createChatCompletionsLlm } from './client.ts';
