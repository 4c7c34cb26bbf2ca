import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { silentLogger } from '../../src/core/base/index.ts';
import type { LlmPort } from '../../src/core/models/index.ts';
import {
  Harness,
  type HarnessOptions,
  parseSettings,
  type SettingsInput,
} from '../../src/service/harness/index.ts';
import { type Script, ScriptedLlm } from '../../src/testing/index.ts';

/** A started harness on a port of its own, with a task queue and a store of its own. */
export interface TestHarness {
  readonly harness: Harness;
  /** With a trailing slash, as A2A clients want it. */
  readonly url: string;
  readonly folder: string;
  readonly agentId: string;
}

/** Registers what is to be done when a test is over; a concurrent test passes the one of its own context. */
export type OnFinished = (cleanUp: () => void | Promise<void>) => void;

/** A folder that is gone when the test is over. */
export function testFolder(onFinished: OnFinished = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'tiny-harness-test-'));
  onFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a harness on the run's Temporal server; it stops when the test is over. */
export async function startTestHarness(
  model: Script | LlmPort,
  options: {
    readonly settings?: SettingsInput;
    readonly folder?: string;
    readonly agentId?: string;
    readonly onFinished?: OnFinished;
  } & HarnessOptions = {},
): Promise<TestHarness> {
  const {
    settings: input = {},
    onFinished = onTestFinished,
    folder = testFolder(onFinished),
    agentId = `t-${randomUUID().slice(0, 8)}`,
    ...rest
  } = options;
  const settings = parseSettings(
    {
      ...input,
      agent: { id: agentId, ...input.agent },
      temporal: { mode: 'remote', address: inject('temporal'), namespace: 'default', ...input.temporal },
      store: { sqlite_path: join(folder, 'store.db'), ...input.store },
      // All tests come from one address.
      server: { bind: '127.0.0.1:0', rate_limit_per_minute: 1_000_000, ...input.server },
    },
    {},
  );
  const llm = typeof model === 'object' && 'stream' in model ? model : new ScriptedLlm(model);
  const harness = new Harness(settings, { llm, logger: silentLogger, ...rest });
  const listening = await harness.listen();
  await harness.start();
  onFinished(async () => {
    await harness.stop();
    await listening.close();
  });
  return { harness, url: `${listening.origin}/`, folder, agentId };
}
