import type { LlmUsage } from './llm.ts';

/** What a million tokens of a model cost, in whatever currency all prices are in. */
export interface ModelPrice {
  readonly input: number;
  /** Of input that the provider had cached. */
  readonly cached: number;
  readonly output: number;
}

const MILLION = 1_000_000;

/** What an answer cost. */
export function costOf({ input, cached, output }: LlmUsage, price: ModelPrice): number {
  const fresh = Math.max(0, input - cached);
  return (fresh * price.input + cached * price.cached + output * price.output) / MILLION;
}
