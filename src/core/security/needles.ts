import { base64, base64Cores, utf8 } from './base64.ts';

/** Shorter values are not masked by value: they would hit ordinary words. */
export const MIN_VALUE_LENGTH = 6;
const PREFIX = 4;

/** Finds every place where one of many texts stands, in one pass. */
export interface NeedleFinder {
  /** The places of all hits, overlapping ones united, in order. */
  find(text: string): readonly (readonly [start: number, end: number])[];
  /** How many characters at the end of `text` are the beginning of one of the texts, and not yet the whole. */
  unsettled(text: string): number;
}

/** The forms in which `value` may appear: raw, in a JSON string, percent- and form-encoded, base64 at any alignment. */
export function formsOf(value: string): string[] {
  const percent = encodeURIComponent(value.toWellFormed());
  const bytes = utf8(value);
  const encoded = [base64(bytes), ...base64Cores(bytes)];
  const forms = [
    value,
    JSON.stringify(value).slice(1, -1),
    percent,
    percent.replaceAll('%20', '+'),
    percent.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()),
    ...encoded,
    ...encoded.map((text) => text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')),
  ];
  return [...new Set(forms)].filter((form) => form.length >= MIN_VALUE_LENGTH);
}

/**
 * A finder for `needles`, each at least `MIN_VALUE_LENGTH` long. One pass whose cost does not grow with their number:
 * a bitmap over a hash of four characters rejects almost every position, and only the rest is compared. (A search per
 * needle would be dozens of passes with a handful of secrets, each of which has about ten forms.)
 */
export function createNeedleFinder(needles: readonly string[]): NeedleFinder {
  if (needles.length === 0) return { find: () => [], unsettled: () => 0 };
  const bitmap = new Uint8Array(1 << 16);
  const buckets = new Map<string, string[]>();
  // Longest first, so that the first needle of a bucket that matches also covers the shorter ones.
  for (const needle of [...needles].sort((a, b) => b.length - a.length)) {
    bitmap[hashAt(needle, 0)] = 1;
    const prefix = needle.slice(0, PREFIX);
    buckets.set(prefix, [...(buckets.get(prefix) ?? []), needle]);
  }
  return {
    find(text) {
      const hits: [number, number][] = [];
      for (let at = 0; at + PREFIX <= text.length; at++) {
        if (bitmap[hashAt(text, at)] === 0) continue;
        const needle = buckets.get(text.slice(at, at + PREFIX))?.find((one) => text.startsWith(one, at));
        if (needle === undefined) continue;
        const end = at + needle.length;
        const last = hits.at(-1);
        if (last !== undefined && at <= last[1]) last[1] = Math.max(last[1], end);
        else hits.push([at, end]);
      }
      return hits;
    },
    unsettled(text) {
      let most = 0;
      for (const needle of needles) {
        for (let length = Math.min(needle.length - 1, text.length); length > most; length -= 1) {
          if (text.endsWith(needle.slice(0, length))) most = length;
        }
      }
      return most;
    },
  };
}

function hashAt(text: string, at: number): number {
  const low = text.charCodeAt(at) ^ (text.charCodeAt(at + 1) << 5);
  const high = (text.charCodeAt(at + 2) << 9) ^ (text.charCodeAt(at + 3) << 3);
  return (low ^ high) & 0xffff;
}
