import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ERROR_CODES } from '../../src/core/base/index.ts';

const PAGE = readFileSync(resolve(import.meta.dirname, '../../docs/errors.md'), 'utf8');

test('docs/errors.md lists every error code as the code has it, and no other', () => {
  const documented = PAGE.split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, code, again, summary]) => [code?.replaceAll('`', ''), { retryable: again === 'yes', summary }]);

  expect(Object.fromEntries(documented)).toEqual(ERROR_CODES);
  expect(documented).toHaveLength(Object.keys(ERROR_CODES).length);
});

test('docs/errors.md says what to do about each', () => {
  const rows = PAGE.split('\n').filter((line) => line.startsWith('| `'));

  for (const row of rows) expect(row).toMatch(/^\| `[\w.]+` \| (yes|no) \| [^|]+\. \| [^|]+\. \|$/);
});
