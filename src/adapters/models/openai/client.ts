import OpenAI from 'openai';
import { type AbortSignalLike, RetryableProviderError } from '../../../core/base/index.ts';
import type { LlmEvent, LlmPort, LlmRequest } from '../../../core/models/index.ts';
import type { Secret } from '../../../core/security/index.ts';
import { checkEndpoint, type Endpoint, guardedFetch, OPENAI_BASE_URL } from './endpoint.ts';
import { type ErrorScope, toProviderError } from './errors.ts';
import { chatCompletionsBody } from './request.ts';
import { AnswerAssembler } from './stream.ts';
import { TimeLimit } from './time-limit.ts';
import { mapToolNames } from './tool-names.ts';

/** What `createChatCompletionsLlm` needs. */
export interface ChatCompletionsOptions {
  /** The model used when a request names none. */
  readonly model: string;
  /** Up to and without `/chat/completions`; default `https://api.openai.com/v1`. */
  readonly baseUrl?: string;
  /** Without it no `Authorization` header is sent. */
  readonly apiKey?: Secret;
  /** Milliseconds until the endpoint has begun to answer (its response headers). */
  readonly timeoutMs: number;
  /**
   * Milliseconds an answer that has begun may stay silent; default 300 000. Comment lines are silence: a server that
   * sends them while it reads a long prompt needs a higher limit for a longer wait.
   */
  readonly idleTimeoutMs?: number;
  /** Sent as `max_tokens`. */
  readonly maxOutputTokens: number;
  /** Tokens the model can read, when known. */
  readonly contextWindow?: number;
  /** The platform's by default. */
  readonly fetch?: typeof fetch;
}

/**
 * A model behind the Chat Completions API: OpenAI's, or a compatible server (Ollama, vLLM, LM Studio, llama.cpp).
 * Throws `ConfigError` when the endpoint is not acceptable (MD-5).
 */
export function createChatCompletionsLlm(options: ChatCompletionsOptions): ChatCompletionsLlm {
  return new ChatCompletionsLlm(options);
}

/** See `createChatCompletionsLlm`. Holds no state between requests, so any number may run at once. */
export class ChatCompletionsLlm implements LlmPort {
  readonly description: string;
  readonly model: string;
  readonly contextWindow?: number;
  readonly #options: ChatCompletionsOptions;
  readonly #endpoint: Endpoint;
  readonly #client: OpenAI;

  constructor(options: ChatCompletionsOptions) {
    this.#options = options;
    this.#endpoint = checkEndpoint(options.baseUrl ?? OPENAI_BASE_URL, options.apiKey);
    this.#client = new OpenAI({
      baseURL: this.#endpoint.baseUrl,
      // Everything the SDK would otherwise read from the environment is given. The key is not: `guardedFetch` adds it.
      apiKey: 'unused',
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      logLevel: 'off',
      maxRetries: 0,
      // Limits are kept here, for the error bodies too; the SDK's own would end with the response headers.
      timeout: 2 ** 31 - 1,
      fetch: guardedFetch(options.apiKey, options.fetch),
    });
    this.model = options.model;
    this.description = this.#label(options.model);
    if (options.contextWindow !== undefined) this.contextWindow = options.contextWindow;
  }

  async *stream(request: LlmRequest, signal: AbortSignalLike): AsyncGenerator<LlmEvent, void, undefined> {
    if (signal.aborted) throw signal.reason;
    const model = request.model ?? this.model;
    const scope: ErrorScope = { label: this.#label(model), apiKey: this.#options.apiKey };
    const names = mapToolNames(request);
    const body = chatCompletionsBody(request, names, {
      model,
      maxOutputTokens: this.#options.maxOutputTokens,
      promptCacheKey: this.#endpoint.isOpenAi,
    });
    const answer = new AnswerAssembler(names, model);
    const idleMs = this.#options.idleTimeoutMs ?? 300_000;
    const controller = new AbortController();
    const abort = () => controller.abort();
    const limit = new TimeLimit(abort);
    // The SDK ends a stream without an error when it was aborted, so the reason is looked up after it.
    const assertRunning = () => {
      if (signal.aborted) throw signal.reason;
      if (limit.expiredAfterMs !== undefined) throw timedOut(scope.label, limit.expiredAfterMs);
    };
    signal.addEventListener('abort', abort);
    try {
      limit.extend(this.#options.timeoutMs);
      const events = await this.#client.chat.completions.create(body, { signal: controller.signal });
      limit.extend(idleMs);
      for await (const event of events) {
        assertRunning();
        // A slow reader is not the endpoint's silence.
        limit.stop();
        const delta = answer.add(event);
        if (delta !== '') yield { type: 'text', delta };
        limit.extend(idleMs);
      }
      limit.stop();
      assertRunning();
      yield { type: 'done', response: answer.finish() };
    } catch (error) {
      assertRunning();
      throw toProviderError(error, scope);
    } finally {
      limit.stop();
      signal.removeEventListener('abort', abort);
      controller.abort();
    }
  }

  #label(model: string): string {
    return `model endpoint ${this.#endpoint.origin} api=chat_completions model=${model}`;
  }
}

function timedOut(label: string, afterMs: number): RetryableProviderError {
  return new RetryableProviderError(
    `${label} was silent for ${afterMs} ms; try again, or raise the time limits of the model if it needs longer`,
  );
}
