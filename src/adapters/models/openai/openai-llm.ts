import OpenAI from 'openai';
import { type AbortSignalLike, RetryableProviderError } from '../../../core/base/index.ts';
import type { LlmEvent, LlmPort, LlmRequest } from '../../../core/models/index.ts';
import type { Secret } from '../../../core/security/index.ts';
import { checkEndpoint, type Endpoint, guardedFetch, OPENAI_BASE_URL } from './endpoint.ts';
import { type ErrorScope, toProviderError } from './errors.ts';
import { TimeLimit } from './time-limit.ts';
import { mapToolNames } from './tool-names.ts';
import type { WireFormat } from './wire-format.ts';

/** What a model of this folder needs. */
export interface OpenAiLlmOptions {
  /** The model used when a request names none. */
  readonly model: string;
  /** Up to and without `/chat/completions` or `/responses`; default `https://api.openai.com/v1`. */
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
  /** Most tokens of an answer. */
  readonly maxOutputTokens: number;
  /** Tokens the model can read, when known. */
  readonly contextWindow?: number;
  /** The platform's by default. */
  readonly fetch?: typeof fetch;
}

/** A model behind one of OpenAI's APIs. Holds no state between requests, so any number may run at once. */
export class OpenAiLlm implements LlmPort {
  readonly description: string;
  readonly model: string;
  readonly contextWindow?: number;
  readonly #format: WireFormat;
  readonly #options: OpenAiLlmOptions;
  readonly #endpoint: Endpoint;
  readonly #client: OpenAI;

  /** Throws `ConfigError` when the endpoint is not acceptable (MD-5). */
  constructor(format: WireFormat, options: OpenAiLlmOptions) {
    this.#format = format;
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
    const { isOpenAi } = this.#endpoint;
    const settings = { model, maxOutputTokens: this.#options.maxOutputTokens, isOpenAi };
    const scope: ErrorScope = { label: this.#label(model), apiKey: this.#options.apiKey };
    const names = mapToolNames(request);
    const answer = this.#format.reader(names, model);
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
      const outgoing = { request, names, settings, signal: controller.signal };
      const events = await this.#format.send(this.#client, outgoing);
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
    return `model endpoint ${this.#endpoint.origin} api=${this.#format.api} model=${model}`;
  }
}

function timedOut(label: string, afterMs: number): RetryableProviderError {
  return new RetryableProviderError(
    `${label} was silent for ${afterMs} ms; try again, or raise the time limits of the model if it needs longer`,
  );
}
