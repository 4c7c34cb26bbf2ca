import type { JsonValue } from '../base/index.ts';
import { createNeedleFinder, formsOf, MIN_VALUE_LENGTH, type NeedleFinder } from './needles.ts';
import type { SecretSnapshot } from './secret-registry.ts';
import { findShape } from './shapes.ts';
import { createStreamRedactor, type StreamRedactor } from './stream-redactor.ts';

/**
 * What stands where a secret stood. It starts with a character it has nowhere else, so two masks never overlap and
 * text around a mask never forms another one: that makes redaction idempotent.
 */
export const MASK = '[redacted]';

/** Masks secrets in text and in JSON values (SE-2). Both operations are idempotent, linear in size, and never throw. */
export interface Redactor {
  /** `text` with configured values (in their encodings) and credential shapes masked. */
  redactText(text: string): string;
  /** A copy of `value` with every string masked, keys included, at any depth. */
  redact<T extends JsonValue>(value: T): T;
  /** The same for a value that is more than JSON: what is neither array nor plain object in it stays what it is. */
  redactPlain<T>(value: T): T;
  /** For one text that comes in pieces. */
  stream(): StreamRedactor;
}

/** A redactor over the secrets `source` gives; it is asked each time and its forms are rebuilt when `version` changed. */
export function createRedactor(source: () => SecretSnapshot): Redactor {
  let version: number | undefined;
  let finder: NeedleFinder = createNeedleFinder([]);

  const current = (): NeedleFinder => {
    const snapshot = source();
    if (snapshot.version !== version) {
      const values = snapshot.values.filter((v) => v.length >= MIN_VALUE_LENGTH && !MASK.includes(v));
      finder = createNeedleFinder(
        [...new Set(values.flatMap(formsOf))].filter((form) => !MASK.includes(form)),
      );
      version = snapshot.version;
    }
    return finder;
  };

  const redactText = (text: string): string => {
    const secrets = current();
    // What is masked already is left alone, and what stands between masks is looked at by itself.
    return text.includes(MASK)
      ? text
          .split(MASK)
          .map((part) => maskPart(part, secrets))
          .join(MASK)
      : maskPart(text, secrets);
  };

  return {
    redactText,
    redact: <T extends JsonValue>(value: T): T => mapStrings(value, redactText, isObject) as T,
    redactPlain: <T>(value: T): T => mapStrings(value as JsonValue, redactText, isPlain) as T,
    stream: () => createStreamRedactor(redactText, (text) => current().unsettled(text)),
  };
}

function maskPart(text: string, secrets: NeedleFinder): string {
  const hits = secrets.find(text);
  if (hits.length === 0) return maskShapes(text);
  const parts: string[] = [];
  let from = 0;
  for (const [start, end] of hits) {
    parts.push(maskShapes(text.slice(from, start)));
    from = end;
  }
  parts.push(maskShapes(text.slice(from)));
  return parts.join(MASK);
}

function maskShapes(text: string): string {
  const parts: string[] = [];
  // The rest is searched as text of its own, as a second redaction would see it.
  let rest = text;
  for (let hit = findShape(rest); hit !== undefined; hit = findShape(rest)) {
    parts.push(rest.slice(0, hit[0]));
    rest = rest.slice(hit[1]);
  }
  parts.push(rest);
  return parts.join(MASK);
}

type Container = JsonValue[] | Record<string, JsonValue>;

/**
 * A deep copy of the containers with `map` on every string and key. With a stack of its own: input nests as deep as a
 * sender likes.
 */
function mapStrings(
  root: JsonValue,
  map: (text: string) => string,
  isContainer: (value: JsonValue) => value is Container,
): JsonValue {
  const todo: { from: JsonValue; into: Container }[] = [];
  const copies = new Map<object, Container>();
  const copy = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return map(value);
    if (!isContainer(value)) return value;
    // What a hook hands back may hold itself.
    const known = copies.get(value);
    if (known) return known;
    const into: Container = Array.isArray(value) ? [] : {};
    copies.set(value, into);
    todo.push({ from: value, into });
    return into;
  };
  const result = copy(root);
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const { from, into } = next;
    if (Array.isArray(into)) {
      for (const item of from as readonly JsonValue[]) into.push(copy(item));
    } else {
      for (const [key, item] of Object.entries(from as Record<string, JsonValue>))
        setOwn(into, freeKey(into, map(key)), copy(item));
    }
  }
  return result;
}

function isObject(value: JsonValue): value is Container {
  return typeof value === 'object' && value !== null;
}

/** No dates, streams or errors: a copy of their fields would be none of these. */
function isPlain(value: JsonValue): value is Container {
  if (!isObject(value) || Array.isArray(value)) return isObject(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  // Whatever realm it comes from.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Two keys may be masked to the same text; neither value may be lost. */
function freeKey(into: object, key: string): string {
  if (!Object.hasOwn(into, key)) return key;
  let number = 2;
  while (Object.hasOwn(into, `${key} (${number})`)) number++;
  return `${key} (${number})`;
}

function setOwn(into: Record<string, JsonValue>, key: string, value: JsonValue): void {
  // An assignment to `__proto__` would set the prototype instead.
  if (key === '__proto__')
    Object.defineProperty(into, key, { value, enumerable: true, writable: true, configurable: true });
  else into[key] = value;
}
