import type OpenAI from 'openai';
import type { LlmRequest, LlmResponse } from '../../../core/models/index.ts';
import type { ToolNames } from './tool-names.ts';

/** What a request body needs beside the request itself. */
export interface RequestSettings {
  readonly model: string;
  readonly maxOutputTokens: number;
  /** False for compatible servers, which may refuse fields they do not know. */
  readonly isOpenAi: boolean;
}

/** One request on its way out. */
export interface Outgoing {
  readonly request: LlmRequest;
  readonly names: ToolNames;
  readonly settings: RequestSettings;
  readonly signal: AbortSignal;
}

/** Folds the events of one streamed answer into a response. Pure: no clock, no network. */
export interface AnswerReader {
  /**
   * Takes one event; returns the text it adds. Throws `AnswerError` when it is no event of the format, and the SDK's
   * `APIError` when it reports a failure.
   */
  add(event: unknown): string;
  /** The whole answer. Throws `AnswerError` when the server never said that it was finished. */
  finish(): LlmResponse;
}

/** One of OpenAI's two APIs: all that differs between them. */
export interface WireFormat {
  /** What descriptions and settings call it. */
  readonly api: 'chat_completions' | 'responses';
  /** Sends a request and resolves, with the events as they come, once the endpoint has begun to answer. */
  send(client: OpenAI, outgoing: Outgoing): Promise<AsyncIterable<unknown>>;
  /** A reader for one answer. `model` is reported when the server names none. */
  reader(names: ToolNames, model: string): AnswerReader;
}
