import { z } from 'zod';
import type { LlmUsage } from '../../../../core/models/index.ts';
import { argumentsText, count } from '../lenient.ts';

const usage = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  prompt_tokens_details: z.object({ cached_tokens: count }).nullish(),
  completion_tokens_details: z.object({ reasoning_tokens: count }).nullish(),
});

const piece = z.object({
  index: z.number().nullish(),
  id: z.string().nullish(),
  function: z
    .object({
      name: z.string().nullish(),
      arguments: argumentsText,
    })
    .nullish(),
});

const choice = z.object({
  index: z.number().nullish(),
  delta: z
    .object({
      content: z.string().nullish(),
      refusal: z.string().nullish(),
      tool_calls: z.array(piece).nullish(),
    })
    .nullish(),
  finish_reason: z.string().nullish(),
});

/**
 * One event of a streamed answer, with only the fields that are read. Lenient on purpose: "OpenAI-compatible" servers
 * send null, or nothing, where the reference promises a value.
 */
export const chunkSchema = z.object({
  model: z.string().nullish(),
  choices: z.array(choice).nullish(),
  usage: usage.nullish(),
});

/** What the provider reported, zeros for what it did not. */
export function usageOf(reported: z.infer<typeof usage> | undefined): LlmUsage {
  return {
    input: reported?.prompt_tokens ?? 0,
    cached: reported?.prompt_tokens_details?.cached_tokens ?? 0,
    output: reported?.completion_tokens ?? 0,
    reasoning: reported?.completion_tokens_details?.reasoning_tokens ?? 0,
  };
}

/** See `chunkSchema`. */
export type Chunk = z.infer<typeof chunkSchema>;
