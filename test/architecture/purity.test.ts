import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { ROOMS } from './layers.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SOURCE_MAP = '//# sourceMappingURL=data:application/json;charset=utf-8;base64,';

/** In bytes, with the source map: what the bundle had when this was last looked at, and 5 % for growth. */
const LARGEST_BUNDLE = 982_000;

describe('the workflow bundle', () => {
  let code: string;
  let sources: readonly string[];
  beforeAll(() => {
    // Does nothing when dist/ is newer than the sources, as it is under `npm test`.
    const built = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: ROOT, encoding: 'utf8' });
    expect(built.status, built.stdout + built.stderr).toBe(0);
    code = readFileSync(join(ROOT, 'dist/workflow-bundle.js'), 'utf8');
    const map = Buffer.from(code.slice(code.lastIndexOf(SOURCE_MAP) + SOURCE_MAP.length), 'base64');
    sources = (JSON.parse(map.toString('utf8')) as { sources: string[] }).sources;
  });

  test('has these npm packages and no others', () => {
    const packages = sources.flatMap(
      (source) => /node_modules\/((?:@[^/]+\/)?[^/|]+)/.exec(source)?.[1] ?? [],
    );

    expect([...new Set(packages)].toSorted()).toEqual([
      '@temporalio/common',
      '@temporalio/workflow',
      'long',
      'ms',
      'nexus-rpc',
    ]);
  });

  test('has our own code of these rooms only', () => {
    const rooms = sources
      .filter((source) => source.startsWith('dist/'))
      .map((source) => source.slice('dist/'.length, source.lastIndexOf('/')));

    expect([...new Set(rooms)].toSorted()).toEqual([
      'core/base',
      'core/loop',
      'service/durable/contract',
      'service/durable/workflows',
    ]);
  });

  test('asks for no module of Node', () => {
    const asked = [...code.matchAll(/\brequire\(["']([^"']+)["']\)|external "?([\w:/]+)"?/g)].map(
      ([, required, external]) => required ?? external ?? '',
    );

    expect(asked.filter((name) => name.startsWith('node:') || builtinModules.includes(name))).toEqual([]);
  });

  test('says nothing of the machine it was built on', () => {
    expect(sources.filter((source) => /^(?:\/|\w:|file:)|\.\./.test(source))).toEqual([]);
    expect(code.includes(`${ROOT}/`)).toBe(false);
  });

  test('has not grown by much', () => {
    expect(code.length).toBeLessThan(LARGEST_BUNDLE);
    expect(code.length).toBeGreaterThan(LARGEST_BUNDLE / 2);
  });
});

describe('pure code', () => {
  const files = Object.keys(ROOMS)
    .filter((room) => ROOMS[room]?.pure)
    .flatMap((room) => readdirSync(join(ROOT, 'src', room)).map((file) => `src/${room}/${file}`))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));

  // The linter knows `Date.now()` and the globals; it has no rule for a constructor without arguments.
  test('asks no clock for the date', () => {
    const reads = files.flatMap((file) =>
      clockReads(readFileSync(join(ROOT, file), 'utf8')).map((read) => `${file}: ${read}`),
    );

    expect(files.length).toBeGreaterThan(30);
    expect(reads).toEqual([]);
  });

  test('a clock that is read is found, and one in a comment is not', () => {
    expect(clockReads('const now = new Date();')).toEqual(['new Date()']);
    expect(clockReads('const now = new Date;')).toEqual(['new Date;']);
    expect(clockReads('const text = Date();')).toEqual([' Date()']);
    expect(clockReads('const then = new Date(at); // not new Date()')).toEqual([]);
    expect(clockReads('/* new Date() */ toDate(); Date.parse(text); isDate()')).toEqual([]);
  });
});

/** The places of a source that read the clock through `Date`. */
function clockReads(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/.*/g, '');
  return [...code.matchAll(/\bnew Date\s*(?:\(\s*\)|[^\s(\w])|(?<!new)[^\w.]Date\(\s*\)/g)].map(
    ([match]) => match,
  );
}
