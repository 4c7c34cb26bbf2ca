import type { LlmFinish, LlmResponse, ToolCall } from '../../../core/models/index.ts';
import { AnswerError } from './answer-error.ts';
import { CallAssembler } from './calls.ts';
import { type Chunk, chunkSchema, usageOf } from './chunk.ts';
import type { ToolNames } from './tool-names.ts';

/**
 * Folds the events of one streamed answer into a response. Pure: no clock, no network.
 * 1. Text leaves as it comes; calls leave only in the response, after the server said why it finished.
 * 2. Finish: refusal or content filter, then length, then calls present, then stop (MD-2). Calls of an answer that
 *    was cut off or refused are dropped: the last one may be half a call, and nobody can tell (MD-9).
 * 3. Usage may come with the finish or in a later event without choices; the last report counts.
 */
export class AnswerAssembler {
  readonly #names: ToolNames;
  readonly #calls = new CallAssembler();
  #model: string;
  #text = '';
  #refused = false;
  #finishReason = '';
  #usage: Chunk['usage'];
  #events = 0;

  /** `model` is reported when the server names none. */
  constructor(names: ToolNames, model: string) {
    this.#names = names;
    this.#model = model;
  }

  /** Takes one event; returns the text it adds. Throws `AnswerError` when it is no such event. */
  add(event: unknown): string {
    const parsed = chunkSchema.safeParse(event);
    if (!parsed.success) {
      const where = parsed.error.issues[0]?.path.join('.') ?? '';
      throw new AnswerError(`sent an event that is not of Chat Completions (at "${where}")`);
    }
    this.#events++;
    const chunk = parsed.data;
    if (chunk.model) this.#model = chunk.model;
    if (chunk.usage) this.#usage = chunk.usage;
    // One answer is asked for; a server that sends more is heard only on the first.
    const choice = chunk.choices?.find((c) => (c.index ?? 0) === 0);
    if (choice === undefined) return '';
    if (choice.finish_reason) this.#finishReason = choice.finish_reason;
    for (const { index, id, function: f } of choice.delta?.tool_calls ?? []) {
      this.#calls.add({ index, id, name: f?.name, arguments: f?.arguments });
    }
    const refusal = choice.delta?.refusal ?? '';
    if (refusal !== '') this.#refused = true;
    const text = (choice.delta?.content ?? '') + refusal;
    this.#text += text;
    return text;
  }

  /** The whole answer. Throws `AnswerError` when the server never said why it finished. */
  finish(): LlmResponse {
    if (this.#finishReason === '') {
      throw new AnswerError(
        this.#events === 0
          ? 'answered without a single event; check that the base URL is the one of an OpenAI-compatible API (most end in /v1)'
          : 'ended the answer before it was finished; nothing of it is used, try again',
      );
    }
    const { finish, calls } = this.#outcome();
    return { text: this.#text, calls, usage: usageOf(this.#usage ?? undefined), model: this.#model, finish };
  }

  #outcome(): { finish: LlmFinish; calls: readonly ToolCall[] } {
    if (this.#refused || this.#finishReason === 'content_filter') return { finish: 'refusal', calls: [] };
    if (this.#finishReason === 'length') return { finish: 'length', calls: [] };
    const calls = this.#calls.finish(this.#names);
    return { finish: calls.length > 0 ? 'tool_calls' : 'stop', calls };
  }
}
