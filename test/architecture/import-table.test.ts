import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { ALSO_FOR_TESTS, INSIDERS, PACKAGES, ROOMS, roomsOf, TEST_PACKAGES, TOLERATED } from './layers.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Files that break one rule each, in a source tree where every room of the table has an empty face. */
const PLANTS: readonly (readonly [rule: string, file: string, text: string])[] = [
  ['core/base: direction', 'src/core/base/a.ts', `import '../models/index.ts';`],
  [
    'adapters/store/sqlite: direction',
    'src/adapters/store/sqlite/a.ts',
    `export * from '../../tools/mcp/index.ts';`,
  ],
  [
    'service/durable/workflows: direction',
    'src/service/durable/workflows/a.ts',
    `import type { Thing } from '../activities/index.ts';\nexport type X = Thing;`,
  ],
  [
    'service/harness: direction',
    'src/service/harness/a.ts',
    `export const load = () => import('../durable/workflows/index.ts');`,
  ],
  ['core/loop: direction of tests', 'src/core/loop/a.test.ts', `import '../../service/harness/index.ts';`],
  [
    'core/models: faces',
    'src/core/models/a.ts',
    `import { type Json } from '../base/json.ts';\nexport type X = Json;`,
  ],
  ['core/loop: pure', 'src/core/loop/a.ts', `import { randomUUID } from 'node:crypto';\nrandomUUID();`],
  [
    'service/durable/contract: pure',
    'src/service/durable/contract/a.ts',
    `import type { Socket } from 'net';\nexport type X = Socket;`,
  ],
  ['home of zod', 'src/core/hooks/a.ts', `import { z } from 'zod';\nz.string();`],
  [
    'home of better-sqlite3',
    'src/service/a2a/a.ts',
    `import type D from 'better-sqlite3';\nexport type X = D;`,
  ],
  ['home of smol-toml', 'src/service/harness/b.ts', `import { parse } from 'smol-toml';\nparse('');`],
  [
    'home of @temporalio/worker',
    'src/service/durable/client/a.ts',
    `import { Worker } from '@temporalio/worker';\nWorker.create;`,
  ],
  ['home of @a2a-js/sdk', 'src/service/harness/c.ts', `export { A2AError } from '@a2a-js/sdk/errors';`],
  ['a home for every package', 'src/cli/a.ts', `import { build } from 'vite';\nbuild({});`],
  // `using` is a statement of its own, which the parser's visitor has to know.
  [
    'a home for every package',
    'src/cli/b.ts',
    `export async function f() {\n  await using it = (await import('vite')).it;\n  it;\n}`,
  ],
  ['test packages in tests', 'src/testing/a.ts', `import { expect } from 'vitest';\nexpect(1);`],
  ['a room for everything', 'src/utils/index.ts', `import 'node:fs';`],
  ['src stands alone', 'src/cli/c.ts', `import '../../test/support.ts';`],
  ['tests use faces', 'test/a.test.ts', `import '../src/core/base/json.ts';`],
  ['tests use faces', 'test/activities/a.test.ts', `import '../../src/core/base/json.ts';`],
  [
    'no cycles',
    'src/core/tools/a.ts',
    `import type { B } from './b.ts';\nexport type A = { readonly b?: B };`,
  ],
  ['resolvable', 'src/core/base/b.ts', `import './gone.ts';`],
];

/** Files that the table allows, in the same tree. */
const ALLOWED: Readonly<Record<string, string>> = {
  'src/core/base/json.ts': 'export type Json = string;',
  'src/core/models/llm.ts': `import type {} from '../base/index.ts';`,
  'src/adapters/store/sqlite/store.ts': `import 'node:fs';\nimport 'kysely';\nimport type {} from '../../../core/base/index.ts';`,
  'src/adapters/store/sqlite/store.test.ts': `import 'vitest';\nimport 'node:os';\nimport '../../../testing/index.ts';`,
  // The other half of the cycle above, which is reported once.
  'src/core/tools/b.ts': `import type { A } from './a.ts';\nexport type B = { readonly a?: A };`,
  'test/support.ts': `import '../src/core/models/index.ts';`,
};

describe('the import rules', () => {
  let found: Violation[];
  beforeAll(() => {
    found = cruise({
      ...Object.fromEntries(Object.keys(ROOMS).map((room) => [`src/${room}/index.ts`, 'export {};'])),
      ...ALLOWED,
      ...Object.fromEntries(PLANTS.map(([, file, text]) => [file, text])),
    });
  });

  test.each(PLANTS)('"%s" catches %s', (rule, file) => {
    expect(found.filter(({ from }) => from === file).map((violation) => violation.rule.name)).toEqual([rule]);
  });

  test('let through what the table allows', () => {
    const planted = PLANTS.map(([, file]) => file);
    expect(found.filter(({ from }) => !planted.includes(from))).toEqual([]);
  });
});

test('a room imports only rooms above it in the table', () => {
  const order = Object.keys(ROOMS);

  for (const [name, room] of Object.entries(ROOMS)) {
    const later = room.imports
      .flatMap(roomsOf)
      .filter((other) => order.indexOf(other) >= order.indexOf(name));
    expect(later, name).toEqual([]);
  }
});

test('the table names rooms that are there, and every file of src is in one', () => {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1));
  const homes = Object.values(PACKAGES).flat();
  const named = [
    ...Object.values(ROOMS).flatMap(({ imports }) => imports),
    ...ALSO_FOR_TESTS,
    ...homes,
  ].flatMap(roomsOf);

  for (const room of [...Object.keys(ROOMS), ...named])
    expect(
      files.some((file) => file.startsWith(`src/${room}/`)),
      room,
    ).toBe(true);
  expect(files.filter((file) => !Object.keys(ROOMS).some((room) => file.startsWith(`src/${room}/`)))).toEqual(
    [],
  );
});

test('every dependency has a home', () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
  // Not imported: without it Temporal's replay of JSON histories breaks.
  const dependencies = Object.keys(manifest.dependencies).filter((name) => name !== 'protobufjs');

  expect(Object.keys(PACKAGES).toSorted()).toEqual(dependencies.toSorted());
  expect(Object.keys(manifest.devDependencies)).toEqual(expect.arrayContaining([...TEST_PACKAGES]));
});

test('what is tolerated, and who looks inside a room, is still there', () => {
  for (const { from, to } of TOLERATED) {
    const face = to.slice('src/'.length);
    expect(readFileSync(join(ROOT, from), 'utf8'), from).toContain(`/${face}'`);
  }
  for (const { from, room } of INSIDERS) {
    expect(existsSync(join(ROOT, from)), from).toBe(true);
    expect(Object.keys(ROOMS)).toContain(room);
  }
});

test('the public API re-exports faces and has nothing of its own', () => {
  const folder = join(ROOT, 'src/exports');

  for (const file of readdirSync(folder)) {
    const statements = readFileSync(join(folder, file), 'utf8')
      .replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
      .split(';')
      .map((statement) => statement.trim())
      .filter(Boolean);
    for (const statement of statements)
      expect(statement, file).toMatch(/^export [\s\S]* from '[^']+\/index\.ts'$/);
  }
});

interface Manifest {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
}

interface Violation {
  readonly from: string;
  readonly to: string;
  readonly rule: { readonly name: string };
}

/** What the command and the configuration of `npm run check` find in these files. */
function cruise(files: Readonly<Record<string, string>>): Violation[] {
  const folder = mkdtempSync(join(tmpdir(), 'tiny-harness-imports-'));
  try {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const config = join(ROOT, '.dependency-cruiser.mjs');
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [join(ROOT, 'node_modules/.bin/depcruise'), '--config', config, '--output-type', 'json', 'src', 'test'],
      { cwd: folder, encoding: 'utf8' },
    );
    if (stdout === '') throw new Error(stderr);
    return (JSON.parse(stdout) as { summary: { violations: Violation[] } }).summary.violations;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
