import type { JsonValue } from '../../core/base/index.ts';

const MAX_DEPTH = 8;

/**
 * Anything a caller hands to a log line, as JSON: errors with name, code, stack and cause, dates as ISO text, big
 * integers as text; functions and `undefined` are dropped; what is circular or too deep is cut. Never throws.
 */
export function toPlain(value: unknown): JsonValue {
  return plain(value, []) ?? null;
}

function plain(value: unknown, parents: readonly object[]): JsonValue | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'bigint':
    case 'symbol':
      return String(value);
    case 'object':
      return value === null ? null : guarded(value, parents);
    default:
      return undefined;
  }
}

function guarded(value: object, parents: readonly object[]): JsonValue | undefined {
  if (parents.includes(value)) return '[circular]';
  if (parents.length >= MAX_DEPTH) return '[too deep]';
  try {
    return fromObject(value, [...parents, value]);
  } catch {
    // A getter or a toJSON of the caller's threw; a line with a hole is better than none.
    return '[unreadable]';
  }
}

function fromObject(value: object, parents: readonly object[]): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((item) => plain(item, parents) ?? null);
  if (value instanceof Error) {
    const { name, message, stack, cause } = value;
    const code: unknown = 'code' in value ? value.code : undefined;
    return fromEntries({ name, message, code, stack, cause }, parents);
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return plain((value.toJSON as () => unknown).call(value), parents);
  }
  return fromEntries(value, parents);
}

function fromEntries(value: object, parents: readonly object[]): JsonValue {
  const result: [string, JsonValue][] = [];
  for (const [key, item] of Object.entries(value)) {
    const made = plain(item, parents);
    if (made !== undefined) result.push([key, made]);
  }
  return Object.fromEntries(result);
}
