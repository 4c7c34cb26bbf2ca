import { expect, test } from 'vitest';
import { z } from 'zod';
import { EXTENSION, METADATA } from '../../src/core/extensions/index.ts';
import { defineTool } from '../../src/core/tools/index.ts';
import { call, reply } from '../../src/testing/index.ts';
import { startTestHarness } from '../support/harness.ts';
import { type Json, openStream, say, seen } from './raw.ts';

const usage = { input: 1000, output: 100 };
const look = defineTool({
  name: 'app/look',
  description: 'Looks.',
  input: z.object({}),
  run: () => 'nothing',
});

async function costs(settings: NonNullable<Parameters<typeof startTestHarness>[1]>['settings']) {
  const script = [
    call('app/look', {}, { usage }),
    call('app/look', {}, { usage }),
    reply('Done.', { usage }),
  ];
  const { url } = await startTestHarness(script, { tools: [look], ...(settings ? { settings } : {}) });
  const extensions = [EXTENSION.progress];
  const options = { participant: 'alice', extensions };
  const events = (await (await openStream(url, 'SendStreamingMessage', say('Hi'), options)).rest()).map(seen);
  const progress = events.flatMap(
    ({ metadata }) => (metadata?.[METADATA.progress] as Json | undefined) ?? [],
  );
  return { last: events.at(-1), costs: (progress as Json[]).map(({ cost }) => cost) };
}

test('SF-6, LP-3: progress says what the task has cost, where its model has a price', async () => {
  const priced = await costs({ prices: { scripted: { input: 1, output: 1 } } });
  // Each turn but the last begins, and its call starts and finishes, at what was spent until then.
  const [one, two, three] = [0.0011, 0.0022, 0.0033];
  expect(priced.costs).toEqual([null, null, null, one, one, one, two, three]);
  const free = await costs({});
  expect(free.costs).toEqual(priced.costs.map(() => null));
});

test('LP-3: a task that has cost as much as it may fails, and says so', async () => {
  const prices = { scripted: { input: 1000, output: 1000 } };
  const { last, costs: told } = await costs({ prices, limits: { cost: 2 } });
  expect(last).toMatchObject({ state: 'FAILED', text: expect.stringContaining('limits.cost') });
  expect(told.at(-1)).toBe(2.2);
});
