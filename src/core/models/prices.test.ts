import { expect, test } from 'vitest';
import { costOf } from './index.ts';

const price = { input: 2, cached: 0.5, output: 10 };

test('LP-3: an answer costs what its tokens do, and less where the provider had them cached', () => {
  const used = { input: 1_000_000, cached: 0, output: 100_000, reasoning: 50_000 };
  expect(costOf(used, price)).toBeCloseTo(3);
  expect(costOf({ ...used, cached: 800_000 }, price)).toBeCloseTo(0.4 + 0.4 + 1);
  // What a provider miscounts pays nobody back.
  expect(costOf({ ...used, cached: 2_000_000, output: 0 }, price)).toBeCloseTo(1);
});
