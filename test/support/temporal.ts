import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import {
  findTemporalCli,
  prepareServer,
  startEmbeddedTemporal,
} from '../../src/service/durable/embedded/index.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the Temporal server that the whole run shares. */
    temporal: string;
  }
}

/** Starts one Temporal server for the run; every test works on a task queue of its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'tiny-harness-temporal-'));
  const cli = await findTemporalCli({}, { onProgress: (line) => console.error(line) });
  const server = await startEmbeddedTemporal({ cli, databasePath: join(folder, 'temporal.sqlite3') });
  await prepareServer(server.address, { retentionMs: 86_400_000 });
  project.provide('temporal', server.address);
  return async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}
