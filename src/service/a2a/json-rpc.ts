import { isJsonObject, type JsonObject, type JsonValue } from '../../core/base/index.ts';
import { type WireError, wireError } from './errors.ts';
import type { Binding } from './respond.ts';

type JsonRpcId = string | number | null;

/** What a JSON-RPC request asks for, with the form its answer has; or why it asks for nothing. */
export type RpcCall =
  | {
      readonly kind: 'call';
      readonly form: Binding;
      readonly method: string;
      readonly params: JsonValue | undefined;
    }
  | { readonly kind: 'refused'; readonly form: Binding; readonly error: WireError };

/** Reads the envelope of a JSON-RPC request. */
export function readEnvelope(body: JsonValue | undefined): RpcCall {
  if (!isJsonObject(body)) {
    const error =
      body === undefined
        ? wireError('PARSE_ERROR', 'not JSON: the body is empty')
        : wireError('INVALID_REQUEST', 'a request is an object');
    return { kind: 'refused', form: jsonRpc(null), error };
  }
  const id = typeof body.id === 'string' || typeof body.id === 'number' ? body.id : null;
  const problem = problemOf(body);
  return problem === undefined
    ? { kind: 'call', form: jsonRpc(id), method: String(body.method), params: body.params }
    : { kind: 'refused', form: jsonRpc(id), error: wireError('INVALID_REQUEST', problem) };
}

/** JSON-RPC's form of answers to the request of this id. */
export function jsonRpc(id: JsonRpcId): Binding {
  const failure = ({ code, message, details }: WireError) => ({
    jsonrpc: '2.0',
    id,
    error: { code, message, data: details },
  });
  return {
    answer: (result, headers) => Response.json({ jsonrpc: '2.0', id, result }, { headers }),
    error: (error, headers) =>
      Response.json(failure(error), { headers, status: error.uncalled ? error.http.status : 200 }),
    event: (result) => ({ data: JSON.stringify({ jsonrpc: '2.0', id, result }) }),
    failedEvent: (error) => ({ data: JSON.stringify(failure(error)) }),
  };
}

function problemOf({ jsonrpc, method, id }: JsonObject): string | undefined {
  if (jsonrpc !== '2.0') return 'jsonrpc must be "2.0"';
  if (typeof method !== 'string' || method === '') return 'method must be a text';
  if (id !== undefined && id !== null && typeof id !== 'string' && !Number.isInteger(id))
    return 'id must be a text or an integer';
  return undefined;
}
