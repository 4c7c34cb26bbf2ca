import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

test('examples/incident tells its story to the end', { timeout: 60_000 }, () => {
  const main = fileURLToPath(new URL('../../examples/incident/main.ts', import.meta.url));
  const { stdout, stderr, status } = spawnSync(process.execPath, [main], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('The ledger has one line, and the task is completed.');
});
