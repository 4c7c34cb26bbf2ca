import { expect, test } from 'vitest';
import { invokeLlm, type LlmRequest, type LlmUsage } from './index.ts';

const request: LlmRequest = {
  instructions: 'x'.repeat(4000),
  tools: [{ name: 'app/look', description: 'y'.repeat(400), inputSchema: {} }],
  input: [{ type: 'user', text: 'z'.repeat(40_000) }],
};
const nothing: LlmUsage = { input: 0, cached: 0, output: 0, reasoning: 0 };

async function usageWith(reported: LlmUsage): Promise<LlmUsage> {
  const llm = {
    description: 'a model',
    model: 'm',
    async *stream() {
      const calls = [{ id: 'c', name: 'app/look', arguments: '{"order": 1}' }];
      const response = { text: 'w'.repeat(400), calls, usage: reported, model: 'm', finish: 'stop' as const };
      yield { type: 'done' as const, response };
    },
  };
  return (await invokeLlm(llm, request, new AbortController().signal)).usage;
}

test('CW-4: what a provider does not report is estimated at four characters a token', async () => {
  const { input, output, ...rest } = await usageWith(nothing);
  expect(input).toBeGreaterThan(11_100);
  expect(input).toBeLessThan(11_150);
  expect(output).toBe(105);
  expect(rest).toEqual({ cached: 0, reasoning: 0 });
});

test('CW-4: what a provider reports stands, for each direction by itself', async () => {
  const reported = { input: 7, cached: 5, output: 3, reasoning: 1 };
  expect(await usageWith(reported)).toEqual(reported);
  expect(await usageWith({ ...nothing, input: 7 })).toEqual({ ...nothing, input: 7, output: 105 });
});
