import { randomUUID } from 'node:crypto';
import { MEDIA_TYPE } from '../../src/core/extensions/index.ts';

/** JSON of any shape, as a test looks into it. */
export interface Json {
  readonly [key: string]: unknown;
}

export interface RawOptions {
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
  const headers = new Headers({ 'content-type': 'application/json', ...options.headers });
  if (options.version !== null) headers.set('a2a-version', options.version ?? '1.0');
  if (options.participant !== undefined) headers.set('x-participant-id', options.participant);
  if (options.extensions) headers.set('a2a-extensions', options.extensions.join(', '));
  return fetch(url, { method: 'POST', body, headers, ...(signal ? { signal } : {}) });
}

export async function answerOf(response: Response): Promise<RpcAnswer> {
  const { result, error } = (await response.json()) as Pick<RpcAnswer, 'result' | 'error'>;
  return { status: response.status, headers: response.headers, result, error };
}

/** Calls a method. */
export async function rpc(
  url: string,
  method: string,
  params: unknown,
  options: RawOptions = {},
): Promise<RpcAnswer> {
  return answerOf(await post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), options));
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
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return new RawStream(await post(url, body, options, abort.signal), abort);
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
  const { result, error } = JSON.parse(data) as Pick<RawEvent, 'result' | 'error'>;
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
