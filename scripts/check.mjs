/**
 * Checks everything but the tests: `node scripts/check.mjs [--only types,lint]`.
 *
 * One line for each gate, with its time; what a failing gate printed comes below its line. Exits with 1 when one fails.
 */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { environment } from './setup.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const BIN = join(ROOT, 'node_modules', '.bin');
const WINDOWS = process.platform === 'win32';
/** A gate is a process with threads of its own; two fill a small machine. */
const AT_ONCE = 2;

/** Each gate's commands, one after the other. The slow ones first. */
const GATES = {
  types: [
    ['tsc', '-p', 'tsconfig.json'],
    ['tsc', '-p', 'tsconfig.pure.json'],
  ],
  unused: [['knip', '--no-progress']],
  lint: [['oxlint', '--type-aware', '--deny-warnings', '--report-unused-disable-directives']],
  imports: [['depcruise', 'src', 'test', 'bench']],
  format: [['biome', 'check', '.']],
};

async function main() {
  const names = chosen(process.argv.slice(2));
  const started = Date.now();
  const waiting = [...names];
  let failed = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        if (!(await passes(name))) failed += 1;
      }
    }),
  );
  const gates = `${names.length} ${names.length === 1 ? 'gate' : 'gates'}`;
  console.log(`${gates}, ${failed} failed, ${seconds(started)}`);
  process.exitCode = failed === 0 ? 0 : 1;
}

function chosen(args) {
  if (args.length === 0) return Object.keys(GATES);
  const [option, list = ''] = args.flatMap((arg) => arg.split('='));
  const names = list.split(',').filter(Boolean);
  const unknown = names.filter((name) => !Object.hasOwn(GATES, name));
  if (option === '--only' && names.length > 0 && unknown.length === 0) return names;
  console.error(`usage: check.mjs [--only ${Object.keys(GATES).join(',')}]`);
  process.exit(2);
}

async function passes(name) {
  const started = Date.now();
  for (const command of GATES[name]) {
    const { code, output } = await run(command);
    if (code !== 0) {
      console.log(`FAIL ${name.padEnd(8)}${seconds(started)}\n\n${output.trim()}\n`);
      return false;
    }
  }
  console.log(`ok   ${name.padEnd(8)}${seconds(started)}`);
  return true;
}

function run([program, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(join(BIN, program), args, { cwd: ROOT, env: environment(), shell: WINDOWS });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.on('error', (error) => resolve({ code: 127, output: error.message }));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

function seconds(since) {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}

await main();
