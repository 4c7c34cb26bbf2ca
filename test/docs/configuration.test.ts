import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadSettings } from '../../src/service/harness/settings/index.ts';
import { knownKeys } from '../../src/service/harness/settings/known-keys.ts';
import { NO_EFFECT_YET, NOT_YET } from '../../src/service/harness/settings/not-yet.ts';
import { fileSchema } from '../../src/service/harness/settings/schema/index.ts';

const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');

/** Accepted for the sake of older files, with nothing to set. */
const WITHOUT_EFFECT =
  /^(server\.bridge_interval|openai\.(input_modalities|audio_tokens_per_second)|anthropic\b|retention\.media|o11y\.(service_name|langfuse)|.*\.api_key$)/;

test('CF-1: the page lists every key that has an effect, and no other', () => {
  const documented = [...page.matchAll(/^\| `([a-z_.0-9]+)` \|/gm)].map((match) => match[1] ?? '');
  const refused = new Set(
    NOT_YET.filter(
      (row) =>
        row.when === undefined || /^(agents|plugins|server\.(legacy|ui|trusted_proxies))$/.test(row.key),
    ).map((row) => row.key),
  );
  const known = knownKeys(fileSchema);
  const tables = new Set(known.filter((key) => known.some((other) => other.startsWith(`${key}.`))));
  const documentsWhole = (key: string) => documented.some((row) => row !== key && key.startsWith(`${row}.`));
  const expected = known.filter(
    (key) =>
      !NO_EFFECT_YET.includes(key) &&
      !WITHOUT_EFFECT.test(key) &&
      ![...refused].some((row) => key === row || key.startsWith(`${row}.`)) &&
      !documentsWhole(key) &&
      (!tables.has(key) || documented.includes(key)),
  );
  expect(documented.toSorted()).toEqual(expected.toSorted());
});

test('every example of the page loads', () => {
  const folder = mkdtempSync(join(tmpdir(), 'configuration-page-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'agent.toml');
  const examples = [...page.matchAll(/^```toml\n(.*?)^```$/gms)].map(([, toml = '']) => {
    writeFileSync(path, toml);
    return loadSettings({ path, env: {} });
  });
  expect(examples.flatMap(({ notes, warnings }) => [...notes, ...warnings])).toEqual([]);
  expect(examples.at(-1)?.approvals.rules.map(({ decision }) => decision)).toEqual(['allow', 'ask', 'deny']);
});
