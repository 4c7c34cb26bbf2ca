import { z } from 'zod';

/** Every dotted key a schema knows. A list of tables counts as one table; a table with free names ends at `*`. */
export function knownKeys(schema: unknown, at = ''): string[] {
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape).flatMap(([key, inner]) => {
      const dotted = at === '' ? key : `${at}.${key}`;
      return [dotted, ...knownKeys(inner, dotted)];
    });
  }
  if (schema instanceof z.ZodArray) return knownKeys(schema.element, at);
  if (schema instanceof z.ZodRecord) return knownKeys(schema.valueType, `${at}.*`);
  if (schema instanceof z.ZodPipe) return knownKeys(schema.out, at);
  const wraps =
    schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  return wraps ? knownKeys(schema.unwrap(), at) : [];
}

/**
 * The known key nearest to a mistyped one: the least edits over the whole dotted key, or the same last word in another
 * table; undefined when nothing is near.
 */
export function nearestKey(key: string, known: readonly string[]): string | undefined {
  let best: { key: string; edits: number } | undefined;
  for (const candidate of known) {
    // The table that the key stands in is near, and never what was meant.
    if (key.startsWith(`${candidate}.`)) continue;
    const edits = editDistance(key, candidate);
    if (best === undefined || edits < best.edits) best = { key: candidate, edits };
  }
  if (best !== undefined && best.edits <= Math.max(2, Math.floor(lastWord(key).length / 3))) return best.key;
  return known.find((candidate) => lastWord(candidate) === lastWord(key));
}

function lastWord(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1);
}

/** Levenshtein's distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
