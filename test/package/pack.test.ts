import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;

/** In bytes, as npm counts it: what the package had when this was last looked at, and a tenth for growth. */
const LARGEST_UNPACKED = 2_200_000;

/** What a user writes: an agent with a tool in code and a scripted model, and a message sent to it. */
const AGENT = `
import { defineTool, Harness, parseSettings } from 'tiny-harness';
import { call, reply, ScriptedLlm } from 'tiny-harness/testing';
import { z } from 'zod';

const weather = defineTool({
  name: 'weather',
  description: 'The weather in a city.',
  input: z.object({ city: z.string() }),
  annotations: { readOnlyHint: true },
  run: ({ city }) => \`It rains in \${city}.\`,
});

const settings = parseSettings({
  agent: { id: 'packed', conversation: 'single' },
  temporal: { mode: 'remote', address: process.env.TEMPORAL ?? '', namespace: 'default' },
  store: { sqlite_path: 'store.db' },
  server: { bind: '127.0.0.1:0' },
});
const llm = new ScriptedLlm((request) => {
  const last = request.input.at(-1);
  return last?.type === 'tool_result' ? reply(\`The tool says: \${last.text}\`) : call('app/weather', { city: 'Oslo' });
});
await using harness = await Harness.start(settings, { tools: [weather], llm });
const listening = await harness.listen();

const message = {
  messageId: 'm-1',
  role: 'ROLE_USER',
  parts: [{ text: 'How is the weather in Oslo?' }],
};
const response = await fetch(\`\${listening.origin}/\`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-participant-id': 'alice' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }),
});
const { result } = (await response.json()) as {
  result: { task: { status: { state: string; message: { parts: { text: string }[] } } } };
};
const { status } = result.task;
console.log(JSON.stringify({ state: status.state, text: status.message.parts[0]?.text }));
await listening.close();
`;

describe('the package as npm packs it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tiny-harness-package-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  let packed: Packed;
  beforeAll(() => {
    run(process.execPath, ['scripts/build.mjs'], ROOT);
    const answer = run(
      'npm',
      ['pack', '--json', '--ignore-scripts', '--loglevel=error', '--pack-destination', folder],
      ROOT,
    );
    [packed] = Object.values(JSON.parse(answer) as Packed[]) as [Packed];
  }, 60_000);

  test('holds what was built, the docs and the license, and nothing else', () => {
    const files = packed.files.map(({ path }) => path);
    const expected =
      /^(dist\/.+\.(js|js\.map|d\.ts|md|json)|dist\/\.built|docs\/.+\.md|package\.json|README\.md|LICENSE)$/;

    expect(files.filter((path) => !expected.test(path))).toEqual([]);
    expect(files).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'README.md',
        'dist/builtin/systemprompt.md',
        'dist/cli/main.js',
        'dist/exports/index.d.ts',
        'dist/exports/index.js',
        'dist/exports/testing.js',
        'dist/service/durable/embedded/supervisor.js',
        'dist/workflow-bundle.js',
        'docs/errors.md',
      ]),
    );
  });

  test('holds no tests and no fixtures', () => {
    expect(packed.files.map(({ path }) => path).filter((path) => /\.test\.|fixture/.test(path))).toEqual([]);
  });

  test('is of bounded size', () => {
    expect(packed.unpackedSize).toBeLessThan(LARGEST_UNPACKED);
  });

  describe('installed in an empty project', () => {
    const project = join(folder, 'project');
    beforeAll(() => {
      mkdirSync(project);
      writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
      writeFileSync(join(project, 'agent.ts'), AGENT);
      const wanted = [
        join(folder, packed.filename),
        `zod@${MANIFEST.dependencies.zod}`,
        `@types/node@${MANIFEST.devDependencies['@types/node']}`,
      ];
      const quick = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
      run('npm', ['install', ...quick, ...wanted], project);
    }, 240_000);

    test('runs an agent whose reply comes back over A2A', { timeout: 60_000 }, () => {
      const output = run(process.execPath, ['agent.ts'], project, { TEMPORAL: inject('temporal') });

      expect(JSON.parse(output.trim().split('\n').at(-1) ?? '')).toEqual({
        state: 'TASK_STATE_COMPLETED',
        text: expect.stringContaining('It rains in Oslo.'),
      });
    });

    test('types the same agent under strict settings', { timeout: 60_000 }, () => {
      const strict = ['--noEmit', '--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes'];
      const modules = ['--module', 'nodenext', '--target', 'es2024', '--types', 'node'];
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
      const args = [tsc, ...strict, ...modules, '--lib', 'es2024,esnext.disposable', 'agent.ts'];

      const { stdout, status } = spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' });

      // Not with skipLibCheck, so that our declarations are checked; Temporal's do not stand up to it.
      const errors = stdout.split('\n').filter((line) => /error TS\d+/.test(line));
      expect(errors.filter((line) => !line.startsWith('node_modules/@temporalio/'))).toEqual([]);
      expect(status === 0 || errors.length > 0).toBe(true);
    });

    test('has a command that knows its version', () => {
      const output = run('npx', ['tiny-harness', '--version'], project);

      expect(output.trim()).toBe(MANIFEST.version);
    });
  });
});

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

/** Runs a command to its end and returns what it wrote to stdout; when it fails, so does the test, with all it wrote. */
function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): string {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  expect(status, `${command} ${args.join(' ')}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}
