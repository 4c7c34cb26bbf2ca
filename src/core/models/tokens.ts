import type { LlmRequest, LlmResponse, LlmUsage } from './llm.ts';

const CHARACTERS_PER_TOKEN = 4;

/** What an answer took: as reported, and estimated at four characters a token where nothing was (CW-4). */
export function usageOf(request: LlmRequest, { usage, text, calls }: LlmResponse): LlmUsage {
  if (usage.input > 0 && usage.output > 0) return usage;
  const { instructions, tools, input } = request;
  const written = calls.reduce((sum, call) => sum + call.name.length + call.arguments.length, text.length);
  return {
    ...usage,
    input: usage.input || tokensIn(JSON.stringify([instructions, tools, input]).length),
    output: usage.output || tokensIn(written),
  };
}

function tokensIn(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
