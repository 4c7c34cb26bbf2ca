import type { JsonObject } from '../core/base/index.ts';
import type { LlmUsage } from '../core/models/index.ts';

/**
 * What OpenAI-compatible servers do differently from each other (MD-9). Everything is off by default. A habit that a
 * format has no place for is left out of its answers.
 */
export interface ServerHabits {
  /** The first delta carries `content: null`; Chat Completions only. */
  readonly contentNullFirst?: boolean;
  /** Arguments come one character at a time; every piece after the first has only its `index`. */
  readonly argumentCharacters?: boolean;
  /** Ids: `call_…` (default), random-looking without the prefix, or none at all. */
  readonly ids?: 'call' | 'bare' | 'none';
  /** Every call says index 0 (`output_index` in Responses). */
  readonly sameIndex?: boolean;
  /** Every call is sent twice, with the same id, each under an index of its own. */
  readonly repeatCalls?: boolean;
  /** Comment lines before the first event. */
  readonly commentLines?: number;
  /** Milliseconds between further comment lines for as long as a reply is held; none by default. */
  readonly commentEveryMs?: number;
  /** 500 for a request whose history has arguments that are not JSON. */
  readonly refuseBrokenHistory?: boolean;
}

/** A call in a reply. Arguments given as a string are sent as they are, broken ones included. */
export interface ReplyCall {
  readonly name: string;
  readonly arguments: JsonObject | string;
  readonly id?: string;
}

/** An answer that is delivered to the end. */
export interface AnswerReply {
  readonly text?: string;
  readonly refusal?: string;
  readonly calls?: readonly ReplyCall[];
  /** What is not given is estimated at four characters a token. */
  readonly usage?: Partial<LlmUsage>;
  /**
   * Default `tool_calls` when there are calls, else `stop`. In Responses, `length` and `content_filter` make the answer
   * incomplete; it has no word for the others.
   */
  readonly finishReason?: string;
  /** Milliseconds before the response headers. */
  readonly delayMs?: number;
  /** Waited for after the headers and comment lines, before the first event. */
  readonly hold?: Promise<void>;
  /** Waited for after text and calls, before the finish. */
  readonly holdFinish?: Promise<void>;
  /** Replaces the server's habits for this reply. */
  readonly habits?: ServerHabits;
}

/** An answer that goes wrong. */
export type FaultReply =
  /** An HTTP error. A body that is not a string is sent as JSON. */
  | {
      readonly fault: 'status';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: JsonObject | string;
    }
  /** The connection is reset: before the headers, or after half the events. */
  | { readonly fault: 'reset' | 'reset_midway' }
  /** Half the events, then a clean end. */
  | ({ readonly fault: 'truncate' } & AnswerReply)
  /** Every event but the finish and what follows it, then a clean end. */
  | ({ readonly fault: 'no_finish' } & AnswerReply)
  /** Half an answer, then the error as the format reports one inside a stream. */
  | { readonly fault: 'error_midway'; readonly error: JsonObject }
  /** 200, and a body that is not JSON. */
  | { readonly fault: 'invalid_json' };

/** Lines sent as they are, each with a line end, under 200 and `text/event-stream`. */
export interface RawReply {
  readonly raw: readonly string[];
}

/** What the server answers to one request. */
export type ModelReply = AnswerReply | FaultReply | RawReply;

/** The reply of a llama.cpp server to a request that does not fit its context window. */
export function contextExceeded(promptTokens = 9000, contextWindow = 8192): ModelReply {
  return {
    fault: 'status',
    status: 400,
    body: {
      error: {
        code: 400,
        message: 'the request exceeds the available context size, try increasing it',
        type: 'exceed_context_size_error',
        n_prompt_tokens: promptTokens,
        n_ctx: contextWindow,
      },
    },
  };
}
