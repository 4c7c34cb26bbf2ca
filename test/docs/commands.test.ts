import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/builtin/index.ts';

const page = readFileSync(new URL('../../docs/commands.md', import.meta.url), 'utf8');

test('SF-5: the page lists every built-in command with its argument, and no other', () => {
  const documented = [...page.matchAll(/^\| `(\/.+?)` \|/gm)].map(([, usage = '']) =>
    usage.replaceAll('\\|', '|'),
  );
  expect(documented).toEqual(COMMANDS.map(({ name, argumentHint }) => `/${name} ${argumentHint}`.trimEnd()));
});
