import type { JsonObject } from '../../core/base/index.ts';
import { type WireError, wireError } from './errors.ts';
import type { Binding } from './respond.ts';

interface Route {
  readonly verb: 'GET' | 'POST' | 'DELETE';
  /** Named groups become parameters. */
  readonly path: RegExp;
  readonly method: string;
}

const ONE_TASK = '/tasks/(?<id>[^/]+)';
const PUSH_CONFIGS = '/tasks/(?<taskId>[^/]+)/pushNotificationConfigs';

const ROUTES: readonly Route[] = [
  route('POST', '/message:send', 'SendMessage'),
  route('POST', '/message:stream', 'SendStreamingMessage'),
  route('GET', '/tasks', 'ListTasks'),
  route('GET', `${ONE_TASK}:subscribe`, 'SubscribeToTask'),
  route('POST', `${ONE_TASK}:subscribe`, 'SubscribeToTask'),
  route('POST', `${ONE_TASK}:cancel`, 'CancelTask'),
  route('GET', ONE_TASK, 'GetTask'),
  route('POST', PUSH_CONFIGS, 'CreateTaskPushNotificationConfig'),
  route('GET', PUSH_CONFIGS, 'ListTaskPushNotificationConfigs'),
  route('GET', `${PUSH_CONFIGS}/(?<id>[^/]+)`, 'GetTaskPushNotificationConfig'),
  route('DELETE', `${PUSH_CONFIGS}/(?<id>[^/]+)`, 'DeleteTaskPushNotificationConfig'),
  route('GET', '/extendedAgentCard', 'GetExtendedAgentCard'),
];

/** Query parameters that are no texts. */
const NUMBERS: ReadonlySet<string> = new Set(['historyLength', 'pageSize']);
const FLAGS: ReadonlySet<string> = new Set(['includeArtifacts']);

/** The operation that a path stands for. */
export interface RestCall {
  readonly method: string;
  /** The parameters, with those of the body where the operation has one. */
  params(body: JsonObject | undefined): JsonObject;
}

export type RestRoute =
  | { readonly kind: 'call'; readonly call: RestCall }
  | { readonly kind: 'refused'; readonly error: WireError; readonly allow?: string };

/** Which operation is asked for; undefined for a path that is none of A2A's. */
export function routeOf(request: Request, path: string): RestRoute | undefined {
  const fitting = ROUTES.filter((each) => each.path.test(path));
  if (fitting.length === 0) return undefined;
  const found = fitting.find((each) => each.verb === request.method);
  if (found === undefined) {
    const allow = [...new Set(fitting.map((each) => each.verb))].join(', ');
    const message = `${request.method.slice(0, 20)} is not possible here; use ${allow}`;
    return { kind: 'refused', error: wireError('METHOD_NOT_ALLOWED', message), allow };
  }
  const named = namesOf(found.path.exec(path)?.groups ?? {});
  if (named === undefined) {
    return { kind: 'refused', error: wireError('INVALID_REQUEST', 'the path is not percent-encoded UTF-8') };
  }
  const asked = found.verb === 'POST' ? {} : queryOf(new URL(request.url).searchParams);
  return {
    kind: 'call',
    call: {
      method: found.method,
      params: (body) => ({ ...asked, ...body, ...named }),
    },
  };
}

/** HTTP+JSON's form: answers are bare, errors a `google.rpc.Status`. */
export const HTTP_JSON: Binding = {
  answer: (result, headers) => json(result, 200, headers),
  error: (error, headers) => json(failure(error), error.http.status, headers),
  event: (result) => ({ data: JSON.stringify(result) }),
  failedEvent: (error) => ({ data: JSON.stringify(failure(error)), type: 'error' }),
};

function route(verb: Route['verb'], path: string, method: string): Route {
  return { verb, path: new RegExp(`^${path}$`), method };
}

function json(body: unknown, status: number, headers: Record<string, string>): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...headers, 'content-type': 'application/a2a+json' },
  });
}

function failure({ http, message, details }: WireError): object {
  return { error: { code: http.status, status: http.name, message, details } };
}

/** The named parts of a path, decoded; undefined when one is not encoded as paths are. */
function namesOf(groups: Record<string, string>): Record<string, string> | undefined {
  try {
    return Object.fromEntries(
      Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]),
    );
  } catch {
    return undefined;
  }
}

/** What a query says, typed as in a body. What has not the type it should is left for the check to name. */
function queryOf(query: URLSearchParams): JsonObject {
  return Object.fromEntries(
    [...query]
      .filter(([, value]) => value !== '')
      .map(([name, value]) => {
        if (NUMBERS.has(name) && /^-?\d+(\.\d+)?$/.test(value)) return [name, Number(value)];
        if (FLAGS.has(name) && /^(true|false)$/.test(value)) return [name, value === 'true'];
        return [name, value];
      }),
  );
}
