import type { LlmResponse } from '../../../../core/models/index.ts';
import { unfinished } from '../answer-error.ts';
import { CallAssembler } from '../calls.ts';
import { readEvent } from '../lenient.ts';
import { outcomeOf } from '../outcome.ts';
import type { ToolNames } from '../tool-names.ts';
import type { AnswerReader } from '../wire-format.ts';
import { type Chunk, chunkSchema, usageOf } from './chunk.ts';

/**
 * Reads a Chat Completions answer.
 * 1. Text leaves as it comes; calls leave only in the response, after the server said why it finished.
 * 2. Usage may come with the finish or in a later event without choices; the last report counts.
 */
export class ChatCompletionsReader implements AnswerReader {
  readonly #names: ToolNames;
  readonly #calls = new CallAssembler();
  #model: string;
  #text = '';
  #refused = false;
  #finishReason = '';
  #usage: Chunk['usage'];
  #events = 0;

  constructor(names: ToolNames, model: string) {
    this.#names = names;
    this.#model = model;
  }

  add(event: unknown): string {
    const chunk = readEvent(chunkSchema, event, 'Chat Completions');
    this.#events++;
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

  finish(): LlmResponse {
    if (this.#finishReason === '') throw unfinished(this.#events);
    const reason = this.#finishReason;
    const isRefused = this.#refused || reason === 'content_filter';
    const { finish, calls } = outcomeOf({ isRefused, isCutOff: reason === 'length' }, () =>
      this.#calls.finish(this.#names),
    );
    return { text: this.#text, calls, usage: usageOf(this.#usage ?? undefined), model: this.#model, finish };
  }
}
