import { APIConnectionError, APIError } from 'openai';
import {
  HarnessError,
  isJsonObject,
  type JsonObject,
  messageOf,
  ProviderError,
  RetryableProviderError,
} from '../../../core/base/index.ts';
import type { Secret } from '../../../core/security/index.ts';
import { AnswerError } from './answer-error.ts';

const MAX_BODY = 300;

/** Whom an error message is about, and what must not be in it. */
export interface ErrorScope {
  /** `model endpoint <origin> api=<api> model=<model>`. */
  readonly label: string;
  readonly apiKey: Secret | undefined;
}

/**
 * What went wrong as an error of the harness (MD-4). The cause is left out: errors of the SDK hold bodies and headers,
 * and a server may have echoed the key in them.
 */
export function toProviderError(error: unknown, scope: ErrorScope): HarnessError {
  if (error instanceof HarnessError) return error;
  const redact = (text: string) => redacted(text, scope.apiKey);
  const say = (text: string) => `${scope.label} ${text}`;
  if (error instanceof AnswerError) return new ProviderError(say(error.message), { status: 200 });
  if (error instanceof SyntaxError) {
    return new ProviderError(say('answered 200 with text that is not JSON; look at the log of the server'), {
      status: 200,
    });
  }
  if (error instanceof APIConnectionError || !(error instanceof APIError)) {
    return new RetryableProviderError(
      say(
        `cannot be reached or broke off (${cut(redact(reasonOf(error)))}); check that it runs and the base URL is right`,
      ),
    );
  }
  return answered(error, redact, say);
}

function answered(
  error: APIError,
  redact: (text: string) => string,
  say: (text: string) => string,
): ProviderError {
  const body: JsonObject = isJsonObject(error.error) ? error.error : {};
  const inStream = error.status === undefined;
  const status: number = error.status ?? statusInStream(body);
  // Redacted before it is cut: half a key would stay.
  const text = cut(redact(error.message.replace(/^\d{3} /, '')));
  const where = inStream ? 'broke off its answer with an error' : `answered ${status}`;
  const message = say(`${where}: ${text}; ${advice(status)}`);
  if (isContextExceeded(status, body, text)) {
    return new ProviderError(message, { status, code: 'provider.context_exceeded', details: sizes(body) });
  }
  if (status === 408 || status === 429 || status >= 500) {
    const retryAfterMs = retryAfter(error.headers, Date.now());
    return new RetryableProviderError(message, {
      status,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }
  return new ProviderError(message, { status });
}

const STATUS_OF_NAME: Readonly<Record<string, number>> = {
  rate_limit_exceeded: 429,
  rate_limit_error: 429,
  server_error: 500,
  overloaded_error: 503,
};

/** An error that comes inside a stream has no status of its own: servers put one in `code`, or name what happened. */
function statusInStream({ code, type }: JsonObject): number {
  if (typeof code === 'number') return code;
  return STATUS_OF_NAME[String(code)] ?? STATUS_OF_NAME[String(type)] ?? 200;
}

function isContextExceeded(status: number, body: JsonObject, text: string): boolean {
  if (status !== 400 && status !== 200) return false;
  if (body.type === 'exceed_context_size_error' || body.code === 'context_length_exceeded') return true;
  // vLLM and others give no code for it.
  return /maximum context length|exceeds? the available context size/i.test(text);
}

/** llama.cpp's server says how many tokens there were and how many fit. */
function sizes(body: JsonObject): JsonObject {
  const { n_prompt_tokens: promptTokens, n_ctx: contextWindow } = body;
  return {
    ...(typeof promptTokens === 'number' && { promptTokens }),
    ...(typeof contextWindow === 'number' && { contextWindow }),
  };
}

function advice(status: number): string {
  if (status >= 300 && status < 400) return 'redirects are not followed, configure the final base URL';
  if (status === 401 || status === 403) return 'check the API key of this endpoint';
  if (status === 404) return 'check the base URL and the name of the model';
  if (status === 429) return 'wait and try again, or check the quota';
  if (status >= 500 || status === 408) return 'try again, and look at the log of the server if it stays';
  return 'trying the same request again will not help';
}

/** `Retry-After` in milliseconds: seconds or a date; `retry-after-ms` is more exact. */
export function retryAfter(headers: Headers | undefined, now: number): number | undefined {
  const exact = Number(headers?.get('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return Math.round(exact);
  const value = headers?.get('retry-after')?.trim();
  if (!value) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.round(Number(value) * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** The innermost message says what happened (`connect ECONNREFUSED …`); the outer ones say "fetch failed". */
function reasonOf(error: unknown): string {
  let at: unknown = error;
  while (at instanceof Error && at.cause instanceof Error) at = at.cause;
  const code = at instanceof Error && 'code' in at ? String(at.code) : '';
  const message = messageOf(at);
  return message.includes(code) ? message || code : `${code} ${message}`;
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > MAX_BODY ? `${line.slice(0, MAX_BODY)}…` : line;
}

function redacted(text: string, apiKey: Secret | undefined): string {
  return apiKey === undefined ? text : text.replaceAll(apiKey.reveal(), '[secret]');
}
