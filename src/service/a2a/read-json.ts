import { isJsonObject, type JsonValue, messageOf } from '../../core/base/index.ts';
import { type WireError, wireError } from './errors.ts';

/** What a body says, or why it says nothing. An empty one is undefined. */
export type JsonRead =
  | { readonly kind: 'json'; readonly value: JsonValue | undefined }
  | { readonly kind: 'refused'; readonly error: WireError };

/** As deep as protobuf's own readers go; ours recurse. */
const MAX_DEPTH = 100;

const MEDIA_TYPES: ReadonlySet<string> = new Set(['application/json', 'application/a2a+json']);

/** The escape of a surrogate. */
const MAY_BE_ILL_FORMED = /\\u[dD][89a-fA-F]/;

/**
 * Reads a body of at most `limit` bytes. Its type must be JSON's: a web page may post any other kind to a server on
 * this machine without asking.
 */
export async function readJson(request: Request, limit: number): Promise<JsonRead> {
  const text = await readText(request, limit);
  if (text === undefined) {
    const message = `the body is larger than ${limit} bytes (server.max_request_bytes)`;
    return { kind: 'refused', error: wireError('REQUEST_TOO_LARGE', message) };
  }
  if (text === '') return { kind: 'json', value: undefined };
  const type = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!MEDIA_TYPES.has(type)) {
    const message = `the type of the body is "${type.slice(0, 100)}"; send "Content-Type: application/json"`;
    return { kind: 'refused', error: wireError('CONTENT_TYPE_NOT_SUPPORTED', message) };
  }
  if (isTooDeep(text)) {
    const message = `the body is nested deeper than ${MAX_DEPTH} levels`;
    return { kind: 'refused', error: wireError('INVALID_REQUEST', message) };
  }
  try {
    const value = JSON.parse(text) as JsonValue;
    return { kind: 'json', value: MAY_BE_ILL_FORMED.test(text) ? wellFormed(value) : value };
  } catch (error) {
    return { kind: 'refused', error: wireError('PARSE_ERROR', `not JSON: ${messageOf(error)}`) };
  }
}

/** Counts brackets outside texts, without recursion. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (quoted) {
      if (character === '\\') at += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') {
      quoted = true;
    } else if (character === '{' || character === '[') {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (character === '}' || character === ']') {
      depth -= 1;
    }
  }
  return false;
}

/** Half a surrogate pair is no text: readers with strict UTF-8 would refuse everything that quotes it. */
function wellFormed(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key.toWellFormed(), wellFormed(each)]),
  );
}

async function readText(request: Request, limit: number): Promise<string | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) return undefined;
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > limit) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
