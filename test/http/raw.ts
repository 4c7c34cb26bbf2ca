import { randomUUID } from 'node:crypto';
import { MEDIA_TYPE } from '../../src/core/extensions/index.ts';

/** JSON of any shape, as a test looks into it. */
export interface Json {
  readonly [key: string]: unknown;
}

/** A2A's two bindings over HTTP. A call reads the same over both; the answer is told in JSON-RPC's terms. */
export const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const;

export interface RawOptions {
  /** Default: JSON-RPC. */
  readonly binding?: (typeof BINDINGS)[number];
  /** The identity header. */
  readonly participant?: string;
  readonly extensions?: readonly string[];
  /** Null: no version header. */
  readonly version?: string | null;
  readonly headers?: Record<string, string>;
}

export interface RpcAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly result: Json | undefined;
  readonly error: RpcError | undefined;
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: readonly Json[];
}

/** One server-sent event: its id, and the `StreamResponse` or the error in it. */
export interface RawEvent {
  readonly id: number | undefined;
  readonly result: Json | undefined;
  readonly error: RpcError | undefined;
}

/** Posts a body as it is. */
export function post(url: string, body: string, options: RawOptions = {}, signal?: AbortSignal) {
  return fetch(url, { method: 'POST', body, headers: headersOf(options), ...(signal ? { signal } : {}) });
}

export function get(url: string, options: RawOptions = {}, signal?: AbortSignal) {
  return fetch(url, { headers: headersOf(options), ...(signal ? { signal } : {}) });
}

function headersOf(options: RawOptions): Headers {
  const headers = new Headers({ 'content-type': 'application/json', ...options.headers });
  if (options.version !== null) headers.set('a2a-version', options.version ?? '1.0');
  if (options.participant !== undefined) headers.set('x-participant-id', options.participant);
  if (options.extensions) headers.set('a2a-extensions', options.extensions.join(', '));
  return headers;
}

/** JSON-RPC's codes for the reasons that HTTP+JSON tells errors by. */
const CODES: Readonly<Record<string, number>> = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  REQUEST_TOO_LARGE: -32600,
  METHOD_NOT_FOUND: -32601,
  METHOD_NOT_ALLOWED: -32601,
  INVALID_PARAMS: -32602,
  MESSAGE_ID_REUSED: -32602,
  TASK_NOT_FOUND: -32001,
  TASK_NOT_CANCELABLE: -32002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32003,
  UNSUPPORTED_OPERATION: -32004,
  CONTENT_TYPE_NOT_SUPPORTED: -32005,
  VERSION_NOT_SUPPORTED: -32009,
  RATE_LIMITED: -32000,
  TOO_MANY_STREAMS: -32000,
  TOO_MANY_TASKS: -32000,
};

/** Result or error of an answer or event, whichever binding wrote it. */
function told(body: Json): Pick<RpcAnswer, 'result' | 'error'> {
  if (body.jsonrpc === '2.0') return body as unknown as Pick<RpcAnswer, 'result' | 'error'>;
  const status = body.error as { message: string; details: readonly Json[] } | undefined;
  if (status === undefined) return { result: body, error: undefined };
  const { message, details: data } = status;
  return { result: undefined, error: { code: CODES[String(data[0]?.reason)] ?? -32603, message, data } };
}

export async function answerOf(response: Response): Promise<RpcAnswer> {
  const { status, headers } = response;
  const { result, error } = told((await response.json()) as Json);
  return { status, headers, result, error };
}

/** Sends a call, in its binding; the answer as it came. */
export function send(
  url: string,
  method: string,
  params: unknown,
  options: RawOptions,
  signal?: AbortSignal,
): Promise<Response> {
  if (options.binding === 'HTTP+JSON') return sendRest(url, method, params as Json, options, signal);
  return post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), options, signal);
}

function sendRest(
  url: string,
  method: string,
  params: Json | undefined,
  options: RawOptions,
  signal?: AbortSignal,
): Promise<Response> {
  const base = url.replace(/\/$/, '');
  const { id, ...rest } = params ?? {};
  const task = `${base}/tasks/${encodeURIComponent(String(id))}`;
  const query = new URLSearchParams(
    Object.entries(rest).map(([key, value]): [string, string] => [key, String(value)]),
  );
  const body = params === undefined ? '' : JSON.stringify(params);
  switch (method) {
    case 'SendMessage':
      return post(`${base}/message:send`, body, options, signal);
    case 'SendStreamingMessage':
      return post(`${base}/message:stream`, body, options, signal);
    case 'SubscribeToTask':
      return post(`${task}:subscribe`, '', options, signal);
    case 'CancelTask':
      return post(`${task}:cancel`, '', options, signal);
    case 'GetTask':
      return get(`${task}?${query}`, options);
    case 'ListTasks':
      return get(`${base}/tasks?${query}`, options);
    case 'GetExtendedAgentCard':
      return get(`${base}/extendedAgentCard`, options);
    default:
      throw new Error(`the tests know no path of ${method}`);
  }
}

/** Calls a method. */
export async function rpc(
  url: string,
  method: string,
  params: unknown,
  options: RawOptions = {},
): Promise<RpcAnswer> {
  return answerOf(await send(url, method, params, options));
}

/** Parameters of a send with one text. */
export function say(text: string, message: Json = {}, configuration: Json = {}): Json {
  return {
    message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...message },
    configuration,
  };
}

/** An open stream, read event by event. */
export class RawStream {
  readonly response: Response;
  readonly #abort: AbortController;
  readonly #events: AsyncGenerator<RawEvent, void, undefined>;

  constructor(response: Response, abort: AbortController) {
    this.response = response;
    this.#abort = abort;
    this.#events = eventsOf(response);
  }

  /** Reads up to the first event that fits; all of them are returned. */
  async until(fits: (event: RawEvent) => boolean): Promise<RawEvent[]> {
    const seen: RawEvent[] = [];
    for (;;) {
      const next = await this.#events.next();
      if (next.done === true) throw new Error(`the stream ended after ${seen.map(brief).join(', ')}`);
      seen.push(next.value);
      if (fits(next.value)) return seen;
    }
  }

  /** Reads to the end. */
  async rest(): Promise<RawEvent[]> {
    const seen: RawEvent[] = [];
    for await (const event of this.#events) seen.push(event);
    return seen;
  }

  /** Goes away, as a client does whose connection breaks. */
  drop(): void {
    this.#abort.abort();
  }
}

export async function openStream(
  url: string,
  method: string,
  params: unknown,
  options: RawOptions = {},
): Promise<RawStream> {
  const abort = new AbortController();
  return new RawStream(await send(url, method, params, options, abort.signal), abort);
}

async function* eventsOf(response: Response): AsyncGenerator<RawEvent, void, undefined> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    const { result, error } = await answerOf(response);
    yield { id: undefined, result, error };
    return;
  }
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = eventOf(text.slice(0, end));
      text = text.slice(end + 2);
      if (event) yield event;
    }
  }
}

function eventOf(block: string): RawEvent | undefined {
  const id = /^id: (.*)$/m.exec(block)?.[1];
  const data = /^data: (.*)$/m.exec(block)?.[1];
  if (data === undefined) return undefined;
  const { result, error } = told(JSON.parse(data) as Json);
  return { id: id === undefined ? undefined : Number(id), result, error };
}

/** What a test looks at in an update or a task, without the wire's prefixes. */
export interface Seen {
  readonly kind: 'task' | 'status' | 'artifact' | 'error';
  readonly id: number | undefined;
  readonly state: string | undefined;
  readonly text: string;
  readonly messageId: string | undefined;
  readonly metadata: Json | undefined;
  readonly append: boolean | undefined;
  readonly last: boolean | undefined;
}

export function seen(event: RawEvent): Seen {
  const { task, statusUpdate, artifactUpdate } = (event.result ?? {}) as Record<string, Json | undefined>;
  const holder = task ?? statusUpdate;
  const status = holder?.status as { state?: string; message?: Json } | undefined;
  const artifact = artifactUpdate?.artifact as Json | undefined;
  const spoken = (artifact ?? status?.message) as { parts?: readonly Json[] } | undefined;
  return {
    kind: task ? 'task' : statusUpdate ? 'status' : artifactUpdate ? 'artifact' : 'error',
    id: event.id,
    state: status?.state?.replace('TASK_STATE_', ''),
    text: (spoken?.parts ?? [])
      .flatMap((part) => (typeof part.text === 'string' ? [part.text] : []))
      .join('\n'),
    messageId: status?.message?.messageId as string | undefined,
    metadata: (holder ?? artifactUpdate)?.metadata as Json | undefined,
    append: artifactUpdate && artifactUpdate.append === true,
    last: artifactUpdate && artifactUpdate.lastChunk === true,
  };
}

/** `status:WORKING`, `artifact:+` (appended), `artifact:=` (whole so far), `artifact:!` (the last). */
export function brief(event: RawEvent): string {
  const { kind, state, append, last } = seen(event);
  if (kind === 'artifact') return `artifact:${last ? '!' : append ? '+' : '='}`;
  return state === undefined ? kind : `${kind}:${state}`;
}

/** What a stream showed, one word an event; appended pieces in a row are one, however the text was cut. */
export function briefs(events: readonly RawEvent[]): string[] {
  return events.map(brief).filter((word, at, all) => word !== 'artifact:+' || all[at - 1] !== word);
}

/** True for an event that shows a task in this state. */
export function inState(state: string): (event: RawEvent) => boolean {
  return (event) => seen(event).state === state;
}

/** The task a stream starts with. */
export function snapshotOf(events: readonly RawEvent[]): Json {
  const task = events[0]?.result?.task;
  if (task === undefined) throw new Error(`the stream starts with ${events.map(brief).join(', ')}`);
  return task as Json;
}

/** The task of a send's or an operation's answer. */
export function taskOf(answer: RpcAnswer): Json {
  if (answer.error) throw new Error(`${answer.error.code}: ${answer.error.message}`);
  return (answer.result?.task ?? answer.result) as Json;
}

/** The state of a raw task. */
export function rawState(task: Json): string | undefined {
  return (task.status as { state?: string } | undefined)?.state?.replace('TASK_STATE_', '');
}

/** The parts of a raw task's status message. */
export function statusParts(task: Json): readonly Json[] {
  return ((task.status as { message?: { parts?: readonly Json[] } }).message?.parts ?? []) as readonly Json[];
}

/** A part that carries an envelope to the harness. */
export function eventPart(data: unknown): Json {
  return { data, mediaType: MEDIA_TYPE.event };
}

/** A part that carries a channel message; `message` may say anything. */
export function channelPart(message: Json): Json {
  return { data: message, mediaType: MEDIA_TYPE.channel };
}

/** The envelope that opens a task for these people: `{ bob: 'watcher' }`. */
export function taskFor(roles: Record<string, string>, more: Json = {}): Json {
  const participants = Object.entries(roles).map(([id, role]) => ({ id, kind: 'human', role }));
  return eventPart({
    kind: 'task',
    payload: { name: 'Shed', goal: 'Paint the shed', participants, ...more },
  });
}

/** The channel messages among the parts of a status message. */
export function channelParts(parts: readonly Json[]): Json[] {
  return parts.flatMap((part) => (part.mediaType === MEDIA_TYPE.channel ? [part.data as Json] : []));
}
