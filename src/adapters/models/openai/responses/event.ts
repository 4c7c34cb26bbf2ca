import { z } from 'zod';
import type { LlmUsage } from '../../../../core/models/index.ts';
import { argumentsText, count } from '../lenient.ts';

/**
 * Events of a streamed answer, with only the fields that are read. Lenient on purpose: "OpenAI-compatible" servers
 * send null, or nothing, where the reference promises a value.
 */

/** Every event. */
export const headSchema = z.object({ type: z.string() });

/** A piece of text, or of a refusal. */
export const deltaSchema = z.object({ output_index: z.number().nullish(), delta: z.string().nullish() });

const part = z.object({ text: z.string().nullish(), refusal: z.string().nullish() });

const item = z.object({
  type: z.string(),
  call_id: z.string().nullish(),
  name: z.string().nullish(),
  arguments: argumentsText,
  content: z.array(part).nullish(),
});

/** An item that is whole. */
export const itemDoneSchema = z.object({ item });

const usage = z.object({
  input_tokens: count,
  output_tokens: count,
  input_tokens_details: z.object({ cached_tokens: count }).nullish(),
  output_tokens_details: z.object({ reasoning_tokens: count }).nullish(),
});

/** The end of an answer that did not fail. */
export const endSchema = z.object({
  response: z.object({
    model: z.string().nullish(),
    incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
    output: z.array(item).nullish(),
    usage: usage.nullish(),
  }),
});

/** The end of one that did. */
export const failedSchema = z.object({
  response: z.object({ error: z.record(z.string(), z.unknown()).nullish() }),
});

/** What the provider reported, zeros for what it did not. */
export function usageOf(reported: z.infer<typeof usage> | undefined): LlmUsage {
  return {
    input: reported?.input_tokens ?? 0,
    cached: reported?.input_tokens_details?.cached_tokens ?? 0,
    output: reported?.output_tokens ?? 0,
    reasoning: reported?.output_tokens_details?.reasoning_tokens ?? 0,
  };
}

/** One item of an answer: a message, a call, or what is not read. */
export type OutputItem = z.infer<typeof item>;
/** See `deltaSchema`. */
export type Delta = z.infer<typeof deltaSchema>;
/** See `endSchema`. */
export type EndedResponse = z.infer<typeof endSchema>['response'];
