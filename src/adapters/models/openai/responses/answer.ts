import { APIError } from 'openai';
import type { z } from 'zod';
import type { LlmResponse, ToolCall } from '../../../../core/models/index.ts';
import { unfinished } from '../answer-error.ts';
import { CallAssembler } from '../calls.ts';
import { readEvent } from '../lenient.ts';
import { outcomeOf } from '../outcome.ts';
import type { ToolNames } from '../tool-names.ts';
import type { AnswerReader } from '../wire-format.ts';
import {
  type Delta,
  deltaSchema,
  type EndedResponse,
  endSchema,
  failedSchema,
  headSchema,
  itemDoneSchema,
  type OutputItem,
  usageOf,
} from './event.ts';

/**
 * Reads a Responses answer.
 * 1. Text leaves as it comes, an empty line between messages; a server that streams none has it read from the items.
 * 2. Calls are read from whole items: those of `output_item.done`, else those of the end. Pieces of arguments are not
 *    looked at, for every server repeats them there.
 * 3. Calls leave only in the response, after the server said that the answer is over. An answer that it calls
 *    incomplete, for whatever reason but a content filter, was cut off.
 * 4. Events of types that are not known are skipped: there are more every year.
 */
export class ResponsesReader implements AnswerReader {
  readonly #names: ToolNames;
  readonly #model: string;
  readonly #done: OutputItem[] = [];
  #text = '';
  /** Which item the text so far ends in. */
  #textFrom: number | undefined;
  #refused = false;
  #cutOff = false;
  #end: EndedResponse | undefined;
  #events = 0;

  constructor(names: ToolNames, model: string) {
    this.#names = names;
    this.#model = model;
  }

  add(event: unknown): string {
    const { type } = read(headSchema, event);
    this.#events++;
    switch (type) {
      case 'response.output_text.delta':
        return this.#say(read(deltaSchema, event));
      case 'response.refusal.delta':
        this.#refused = true;
        return this.#say(read(deltaSchema, event));
      case 'response.output_item.done':
        this.#done.push(read(itemDoneSchema, event).item);
        return '';
      case 'response.completed':
      case 'response.incomplete':
        return this.#finishWith(read(endSchema, event).response, type === 'response.incomplete');
      case 'response.failed':
        throw failure(read(failedSchema, event).response.error ?? undefined);
      case 'error':
        throw failure(event as object);
      default:
        return '';
    }
  }

  finish(): LlmResponse {
    const end = this.#end;
    if (end === undefined) throw unfinished(this.#events);
    const { model, usage } = end;
    const isRefused = this.#refused || end.incomplete_details?.reason === 'content_filter';
    const { finish, calls } = outcomeOf({ isRefused, isCutOff: this.#cutOff }, () => this.#calls(end));
    return {
      text: this.#text,
      calls,
      usage: usageOf(usage ?? undefined),
      model: model || this.#model,
      finish,
    };
  }

  #say({ delta, output_index: from }: Delta): string {
    if (!delta) return '';
    const isNext = this.#text !== '' && (from ?? undefined) !== this.#textFrom;
    this.#textFrom = from ?? undefined;
    const text = (isNext ? '\n\n' : '') + delta;
    this.#text += text;
    return text;
  }

  /** Takes the end; returns the text of its messages when none came before. */
  #finishWith(end: EndedResponse, isIncomplete: boolean): string {
    this.#end = end;
    this.#cutOff = isIncomplete || Boolean(end.incomplete_details?.reason);
    const parts = this.#items('message', end).map((message) => message.content ?? []);
    if (parts.flat().some((part) => part.refusal)) this.#refused = true;
    if (this.#text !== '') return '';
    const texts = parts.map((of) => of.map(({ text, refusal }) => (text ?? '') + (refusal ?? '')).join(''));
    this.#text = texts.filter((text) => text !== '').join('\n\n');
    return this.#text;
  }

  #calls(end: EndedResponse): ToolCall[] {
    const assembler = new CallAssembler();
    const items = this.#items('function_call', end);
    for (const [index, { call_id: id, name, arguments: text }] of items.entries()) {
      assembler.add({ index, id, name, arguments: text });
    }
    return assembler.finish(this.#names);
  }

  #items(type: string, end: EndedResponse): OutputItem[] {
    const done = this.#done.filter((item) => item.type === type);
    return done.length > 0 ? done : (end.output ?? []).filter((item) => item.type === type);
  }
}

function read<T>(schema: z.ZodType<T>, event: unknown): T {
  return readEvent(schema, event, 'the Responses API');
}

/** The SDK's own error for a failure inside a stream, which the mapping of errors knows. */
function failure(reported: object = { message: 'no reason was given' }): APIError {
  return new APIError(undefined, reported, undefined, undefined);
}
