import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { testFolder } from '../support/harness.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

test('the guide about people: its code runs as it stands, and prints what the page says', {
  timeout: 60_000,
}, () => {
  const page = readFileSync(join(ROOT, 'docs/working-with-people.md'), 'utf8');
  const code = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block]) => block).join('\n');
  const [, printed] = /^## What the program prints\n\n```\n([\s\S]*?)^```$/m.exec(page) ?? [];
  const folder = testFolder();
  const file = join(folder, 'guide.mts');
  // What a package of its own would find by name.
  const built = (path: string) => pathToFileURL(join(ROOT, path)).href;
  writeFileSync(
    file,
    code
      .replace("'tiny-harness/testing'", `'${built('dist/exports/testing.js')}'`)
      .replace("'tiny-harness'", `'${built('dist/exports/index.js')}'`)
      .replace("'zod'", `'${built('node_modules/zod/index.js')}'`),
  );
  const { stdout, stderr, status } = spawnSync(process.execPath, [file], { cwd: folder, encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  expect(stdout).toBe(printed);
});
