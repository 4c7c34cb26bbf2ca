import { A2A_ERROR_CODE } from '@a2a-js/sdk/errors';
import { isJsonObject, type JsonObject, type JsonValue, messageOf } from '../../core/base/index.ts';
import { protocolError, type WireError } from './errors.ts';
import { assertTaskParams, type ParsedSend, parseSend } from './parse-message.ts';

export type JsonRpcId = string | number | null;

/** A request that is one, or the answer to one that is not. */
export type RpcRead =
  | { readonly kind: 'request'; readonly id: JsonRpcId; readonly method: string; readonly body: JsonObject }
  | { readonly kind: 'refused'; readonly response: Response };

/** As deep as protobuf's own readers go; ours recurse. */
const MAX_DEPTH = 100;

/** The escape of a surrogate. */
const MAY_BE_ILL_FORMED = /\\u[dD][89a-fA-F]/;

const TASK_METHODS: ReadonlySet<string> = new Set(['GetTask', 'CancelTask', 'SubscribeToTask']);

/** A2A's methods; those this server does not offer say so themselves. */
const METHODS: ReadonlySet<string> = new Set([
  'SendMessage',
  'SendStreamingMessage',
  ...TASK_METHODS,
  'ListTasks',
  'CreateTaskPushNotificationConfig',
  'GetTaskPushNotificationConfig',
  'ListTaskPushNotificationConfigs',
  'DeleteTaskPushNotificationConfig',
  'GetExtendedAgentCard',
]);

/** Reads a JSON-RPC request of at most `limit` bytes. */
export async function readRpc(request: Request, limit: number): Promise<RpcRead> {
  const text = await readBody(request, limit);
  if (text === undefined) {
    const problem = `the body is larger than ${limit} bytes (server.max_request_bytes)`;
    return refused(null, A2A_ERROR_CODE.INVALID_REQUEST, 'REQUEST_TOO_LARGE', problem, 413);
  }
  if (isTooDeep(text)) {
    const problem = `the body is nested deeper than ${MAX_DEPTH} levels`;
    return refused(null, A2A_ERROR_CODE.INVALID_REQUEST, 'INVALID_REQUEST', problem);
  }
  let body: unknown;
  try {
    const parsed = JSON.parse(text) as JsonValue;
    body = MAY_BE_ILL_FORMED.test(text) ? wellFormed(parsed) : parsed;
  } catch (error) {
    return refused(null, A2A_ERROR_CODE.PARSE_ERROR, 'PARSE_ERROR', `not JSON: ${messageOf(error)}`);
  }
  if (!isJsonObject(body)) {
    return refused(null, A2A_ERROR_CODE.INVALID_REQUEST, 'INVALID_REQUEST', 'a request is an object');
  }
  const id = typeof body.id === 'string' || typeof body.id === 'number' ? body.id : null;
  const problem = problemOf(body);
  if (problem !== undefined) {
    return refused(id, A2A_ERROR_CODE.INVALID_REQUEST, 'INVALID_REQUEST', problem);
  }
  return { kind: 'request', id, method: String(body.method), body };
}

/** What is wrong with a method's name; undefined when it is one of A2A's. */
export function methodProblem(method: string): WireError | undefined {
  if (METHODS.has(method)) return undefined;
  return protocolError(
    A2A_ERROR_CODE.METHOD_NOT_FOUND,
    'METHOD_NOT_FOUND',
    `there is no method "${method.slice(0, 100)}"`,
  );
}

/**
 * Checks parameters before the SDK's codecs, which fill in what is missing and reject nothing. For a send: its message.
 *
 * @throws HarnessError `input.invalid` naming the field, `input.push_unsupported`.
 */
export function checkParams(method: string, params: unknown): ParsedSend | undefined {
  if (method === 'SendMessage' || method === 'SendStreamingMessage') return parseSend(params);
  if (TASK_METHODS.has(method)) assertTaskParams(params);
  return undefined;
}

export function rpcErrorBody(id: JsonRpcId, error: WireError): object {
  const { code, message, data } = error;
  return { jsonrpc: '2.0', id, error: { code, message, data } };
}

export function rpcError(id: JsonRpcId, error: WireError, status = 200): Response {
  return Response.json(rpcErrorBody(id, error), { status });
}

function refused(id: JsonRpcId, code: number, reason: string, problem: string, status = 200): RpcRead {
  return { kind: 'refused', response: rpcError(id, protocolError(code, reason, problem), status) };
}

function problemOf({ jsonrpc, method, id }: JsonObject): string | undefined {
  if (jsonrpc !== '2.0') return 'jsonrpc must be "2.0"';
  if (typeof method !== 'string' || method === '') return 'method must be a text';
  if (id !== undefined && id !== null && typeof id !== 'string' && !Number.isInteger(id))
    return 'id must be a text or an integer';
  return undefined;
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

async function readBody(request: Request, limit: number): Promise<string | undefined> {
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
