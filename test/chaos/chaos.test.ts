import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const PROGRAM = fileURLToPath(new URL('./main.ts', import.meta.url));

/** Runs the program as a person would and returns what it printed. */
async function chaos(...args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { code, output };
}

test('the kill matrix: server, worker, Temporal and all of them killed under a mixed load, nothing lost or doubled', {
  timeout: 240_000,
}, async () => {
  const { code, output } = await chaos('--kills', '8', '--seed', '11', '--clients', '4');
  expect(code, output).toBe(0);
  expect(output).toMatch(/ 0 breaches, \d+ s$/m);
});
