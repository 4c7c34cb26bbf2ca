import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ROOMS } from './layers.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');

test('every file that ARCHITECTURE.md names is there and declares what it says', () => {
  const named = [...PAGE.matchAll(/`([\w./-]+\.\w+)#(\w+)`/g)].map(([, path = '', name = '']) => ({
    path,
    name,
  }));
  const missing = named.filter(
    ({ path, name }) =>
      !existsSync(join(ROOT, path)) || !declares(readFileSync(join(ROOT, path), 'utf8'), name),
  );

  expect(named.length).toBeGreaterThan(40);
  expect(missing).toEqual([]);
});

test('every other path that ARCHITECTURE.md names is there', () => {
  const paths = [...PAGE.matchAll(/`((?:src|test|docs)\/[\w./-]+)`|\]\(([\w./-]+)\)/g)].map(
    ([, code, link]) => code ?? link ?? '',
  );

  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test('ARCHITECTURE.md describes every room', () => {
  const described = [...PAGE.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(
      ([, pattern = '']) => new RegExp(`^${pattern.replaceAll('*', '[^/]+')}$`),
    ),
  );

  expect(Object.keys(ROOMS).filter((room) => !described.some((pattern) => pattern.test(room)))).toEqual([]);
});

test('a name that is only used in a file is not declared by it', () => {
  expect(declares('export const key = {};', 'key')).toBe(true);
  expect(declares('class A {\n  static start(): void {\n  }\n}', 'start')).toBe(true);
  expect(declares('class A {\n  async *follow(\n    x: T) {\n  }\n}', 'follow')).toBe(true);
  expect(declares('class A {\n  readonly fetch = async () => {};\n}', 'fetch')).toBe(true);
  expect(declares('const outcome = admit(message);\nreturn admit(message);', 'admit')).toBe(false);
  expect(
    declares('function run() {\n  await admit(message);\n  admit(\n    message, () => {\n  });\n}', 'admit'),
  ).toBe(false);
});

/** A function, class, type or constant of the file, or a member of a class or interface in it. */
function declares(source: string, name: string): boolean {
  const top = String.raw`^(?:export )?(?:default )?(?:async )?(?:function\*?|class|interface|type|const) ${name}\b`;
  const member = String.raw`^  (?:readonly |static |async |get |\*)*#?${name}(?: = |<|\((?:(?!=>)[^;])*\{$|\(.*\): .*;$)`;
  const longMember = String.raw`^  (?:static |async |\*)+#?${name}\($`;
  return new RegExp(`${top}|${member}|${longMember}`, 'm').test(source);
}
