import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import protoUtils from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { beforeAll, describe, expect, test } from 'vitest';
import { SCENARIOS } from './scenarios.ts';

const bundle = { codePath: fileURLToPath(new URL('../../dist/workflow-bundle.js', import.meta.url)) };
const fileOf = (name: string) => fileURLToPath(new URL(`./histories/${name}.json`, import.meta.url));
const replay = (history: unknown) => Worker.runReplayHistory({ workflowBundle: bundle }, history, 'replayed');

beforeAll(() => {
  if (process.env.RECORD !== '1')
    Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('ERROR') });
});

/** `RECORD=1` runs the scenarios and writes their histories: to be done on purpose, with the reason in the commit. */
describe.runIf(process.env.RECORD === '1')('recording', () => {
  test.each(SCENARIOS)('$name', async ({ name, run }) => {
    const { harness, taskId } = await run();
    const handle = harness.harness.client.workflow.getHandle(taskId);
    await handle.result();
    writeFileSync(fileOf(name), `${protoUtils.historyToJSON(await handle.fetchHistory())}\n`);
  });
});

describe('DU-12: recorded histories replay on the code as it is', () => {
  test.each(SCENARIOS)('$name', async ({ name }) => {
    expect(existsSync(fileOf(name)), `no history of ${name}; record it with RECORD=1`).toBe(true);
    await replay(JSON.parse(readFileSync(fileOf(name), 'utf8')));
  });
});

test('DU-12: a history that the code does not make is refused', async () => {
  const text = readFileSync(fileOf('tool-batch'), 'utf8').replaceAll('"runTool"', '"runOther"');
  await expect(replay(JSON.parse(text))).rejects.toBeInstanceOf(DeterminismViolationError);
});

test('nothing that was said is in a history', () => {
  for (const { name } of SCENARIOS) {
    const text = readFileSync(fileOf(name), 'utf8');
    const payloads = [...text.matchAll(/"data":\s*"([A-Za-z0-9+/=]+)"/g)].map((match) =>
      Buffer.from(match[1] ?? '', 'base64').toString(),
    );
    for (const word of ['Which?', 'saw a', 'wrote c', 'thanks']) {
      expect(
        payloads.filter((payload) => payload.includes(word)),
        `${name} holds "${word}"`,
      ).toEqual([]);
    }
  }
});
