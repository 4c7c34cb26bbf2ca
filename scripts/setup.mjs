/**
 * Makes a checkout ready and then runs a command in it: `node scripts/setup.mjs [-- <command> [args]]`.
 *
 * Installs the packages when the lock file has changed, builds when sources have, has the Temporal CLI fetched once,
 * and runs the command with `node_modules/.bin` first on the PATH, so that `node` is the version this package asks
 * for. Written for the Node a machine happens to have (20 or later), with nothing installed. What it says goes to
 * stderr: stdout is the command's.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { constants, homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const MODULES = join(ROOT, 'node_modules');
const BIN = join(MODULES, '.bin');
const WINDOWS = process.platform === 'win32';
const TEMPORAL = WINDOWS ? 'temporal.exe' : 'temporal';
/** How much of a failed step's output is shown: some programs say what is wrong first, most of them last. */
const HEAD_LINES = 8;
const TAIL_LINES = 30;
/** A step that may have nothing to do speaks only when it took longer than this. */
const WORTH_A_LINE_MS = 1_000;

/** The environment of every step and of the command. */
export function environment() {
  // Windows calls it "Path", and an object with both spellings has two.
  const key = Object.keys(process.env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
  return { ...process.env, [key]: [BIN, process.env[key] ?? ''].join(delimiter) };
}

/** Packages, build, Temporal: each only when needed. Exits the process when one of them fails. */
export async function setup() {
  await installPackages();
  await step('building', [join(BIN, 'node'), 'scripts/build.mjs'], { quick: true });
  await installTemporal();
}

async function installPackages() {
  // In node_modules, so that it goes when they do.
  const stamp = join(MODULES, '.setup-stamp');
  const wanted = createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex');
  if (read(stamp) === wanted) return;
  await step('installing packages', ['npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(stamp, wanted);
}

async function installTemporal() {
  // Holds where the CLI was found, so that it is looked for again when that is gone.
  const stamp = join(MODULES, '.temporal-stamp');
  const known = read(stamp);
  if (known === 'elsewhere' || (known !== undefined && existsSync(known))) return;
  await step('making sure of the Temporal CLI', [
    join(BIN, 'node'),
    'dist/cli/main.js',
    'temporal',
    'install',
  ]);
  writeFileSync(stamp, temporalPath() ?? 'elsewhere');
}

/** Where `temporal install` finds or puts the CLI, unless the configuration names another place. */
function temporalPath() {
  const onPath = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tiny-harness', 'temporal');
  return [...onPath, cache].map((folder) => join(folder, TEMPORAL)).find((path) => existsSync(path));
}

function read(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** Runs one step in the root, quietly; on failure shows what it printed and exits with its code. */
async function step(what, [command, ...args], { quick = false } = {}) {
  const started = Date.now();
  if (!quick) process.stderr.write(`setup: ${what} ... `);
  let output = '';
  const child = spawn(command, args, {
    cwd: ROOT,
    env: environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: WINDOWS,
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const code = await ended(child, (error) => {
    output += error.message;
  });
  const seconds = `${((Date.now() - started) / 1000).toFixed(1)} s`;
  if (code !== 0) {
    const intro = quick ? `setup: ${what} ... ` : '';
    process.stderr.write(`${intro}failed after ${seconds} (exit code ${code})\n${ends(output)}\n`);
    process.exit(code);
  }
  if (!quick) process.stderr.write(`${seconds}\n`);
  else if (Date.now() - started > WORTH_A_LINE_MS) process.stderr.write(`setup: ${what} ... ${seconds}\n`);
}

function ends(output) {
  const lines = output.trimEnd().split('\n');
  if (lines.length <= HEAD_LINES + TAIL_LINES) return lines.join('\n');
  return [...lines.slice(0, HEAD_LINES), '...', ...lines.slice(-TAIL_LINES)].join('\n');
}

/** Runs the command in the caller's folder with the caller's streams; resolves with the exit code to pass on. */
export async function run([command, ...args]) {
  const child = spawn(command, args, { env: environment(), stdio: 'inherit', shell: WINDOWS });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal sends SIGINT and SIGHUP to the whole group, the child included: twice would mean "at once".
      if (signal === 'SIGTERM' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  return ended(child, (error) => process.stderr.write(`setup: ${command} cannot be run: ${error.message}\n`));
}

/** The exit code as a shell would give it: 128 and the signal's number, 127 when there is no such command. */
function ended(child, onError) {
  return new Promise((resolve) => {
    child.on('error', (error) => {
      onError(error);
      resolve(127);
    });
    child.on('close', (code, signal) => resolve(code ?? 128 + (constants.signals[signal] ?? 0)));
  });
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const rest = process.argv.slice(2);
  const command = rest[0] === '--' ? rest.slice(1) : rest;
  await setup();
  if (command.length > 0) process.exitCode = await run(command);
  // Signal handlers keep nothing alive, but a forwarded stdin may.
  process.exit();
}
