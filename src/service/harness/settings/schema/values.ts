import { z } from 'zod';
import { type JsonObject, messageOf, parseDuration } from '../../../../core/base/index.ts';
import { assertStrictSchema } from '../../../../core/tools/index.ts';

/**
 * The kinds of value a configuration holds. All but the strict ones are lenient: `"1000"` passes for a number and
 * `"true"` or `1` for a boolean, so that a value may come from a template or a flag.
 */
const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  t: true,
  yes: true,
  y: true,
  on: true,
  '1': true,
  false: false,
  f: false,
  no: false,
  n: false,
  off: false,
  '0': false,
};

/** The boolean that a lenient value stands for; anything else comes back as it is. */
export function lenientBoolean(value: unknown): unknown {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' ? (BOOLEANS[text.trim().toLowerCase()] ?? value) : value;
}

function lenientNumber(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'string' || !/^\s*[+-]?\d[\d_]*(\.\d+)?([eE][+-]?\d+)?\s*$/.test(value)) return value;
  return Number(value.replaceAll('_', ''));
}

/** A preprocessed schema that says what it takes, for the type of settings given in code. */
function lenient<T, I>(prepare: (value: unknown) => unknown, schema: z.ZodType<T>): z.ZodType<T, I> {
  return z.preprocess(prepare, schema) as unknown as z.ZodType<T, I>;
}

interface Range {
  readonly min?: number;
  readonly max?: number;
}

function within(range: Range, what: string): { check: (n: number) => boolean; message: string } {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = range;
  const bounds =
    range.max !== undefined ? ` from ${min} to ${max}` : range.min !== undefined ? ` of at least ${min}` : '';
  return { check: (n) => n >= min && n <= max, message: `must be ${what}${bounds}` };
}

/** A whole number, leniently. */
export function int(range: Range = {}): z.ZodType<number, number | string> {
  const { check, message } = within(range, 'a whole number');
  return lenient(lenientNumber, z.int(message).refine(check, message));
}

/** A whole number above zero that is written as one. */
export function strictInt(): z.ZodType<number, number> {
  const message = 'must be a whole number above 0, not in quotes';
  return z.int(message).refine((n) => n > 0, message);
}

/** A number, leniently. */
export function float(range: Range = {}): z.ZodType<number, number | string> {
  const { check, message } = within(range, 'a number');
  return lenient(lenientNumber, z.number(message).refine(check, message));
}

/** True or false, leniently. */
export function bool(): z.ZodType<boolean, boolean | string | number> {
  return lenient(lenientBoolean, z.boolean('must be true or false'));
}

/** Text. */
export function text(): z.ZodType<string, string> {
  return z.string('must be text');
}

/** Text that says something. */
export function nonBlank(): z.ZodType<string, string> {
  return text().refine((value) => value.trim() !== '', 'must not be blank');
}

export function texts(): z.ZodType<string[], string[]> {
  return z.array(nonBlank(), 'must be a list of texts');
}

/** A path of the file system; made absolute when the settings are resolved. */
export function path(): z.ZodType<string, string> {
  return nonBlank();
}

/** A duration, as milliseconds (CF-2). */
export function duration(minimumMs = 0): z.ZodType<number, string | number> {
  const message = 'must be a duration: "30s", "5m", "PT30S", "HH:MM:SS" or a number of seconds';
  return z.union([z.number(), z.string()], message).transform((value, context) => {
    const ms = parseDuration(value);
    if (ms === undefined) context.addIssue({ code: 'custom', message });
    else if (ms < minimumMs)
      context.addIssue({ code: 'custom', message: `must be at least ${minimumMs / 1000} s` });
    return ms ?? 0;
  });
}

/** An absolute http or https URL, as written. */
export function httpUrl(): z.ZodType<string, string> {
  return text().refine(
    (value) => /^https?:$/.test(parseUrl(value)?.protocol ?? ''),
    'must be an http or https URL',
  );
}

/** The URL, when `value` is one. */
export function parseUrl(value: string): URL | undefined {
  return URL.canParse(value) ? new URL(value) : undefined;
}

/** One of `values`. */
export function oneOf<const T extends string>(...values: readonly T[]): z.ZodType<T, T> {
  return z.enum(values, `must be ${values.map((value) => `"${value}"`).join(' or ')}`) as z.ZodType<T, T>;
}

/** A table whose keys nobody reads yet. */
export function anyTable(): z.ZodType<Record<string, unknown>, Record<string, unknown>> {
  return z.record(z.string(), z.unknown(), 'must be a table');
}

/** A table that is a JSON Schema. */
export function jsonSchema(): z.ZodType<JsonObject, Record<string, unknown>> {
  return anyTable().transform((table, context) => {
    try {
      const schema = JSON.parse(JSON.stringify(table)) as JsonObject;
      assertStrictSchema(schema);
      return schema;
    } catch (error) {
      context.addIssue({ code: 'custom', message: messageOf(error) });
      return z.NEVER;
    }
  });
}
