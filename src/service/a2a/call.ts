import type { ServerCallContext } from '@a2a-js/sdk/server';
import type { ParsedList } from './list-tasks.ts';
import type { ParsedSend } from './parse-message.ts';

/** What the server knows of a call beyond the SDK's context; it travels in the context's state. */
export interface Call {
  /** For a send: its message, read from the parameters as they came. */
  readonly send?: ParsedSend;
  /** For a list: what it asks for, likewise. */
  readonly list?: ParsedList;
  /** The identity header. */
  readonly participant: string | null;
  /** Aborts when the client goes away or the server stops. */
  readonly signal: AbortSignal;
  readonly lastEventId: number | undefined;
  /** Sequence of the event that the stream is yielding; undefined for one that is not durable. */
  eventId: number | undefined;
  /** What the handler threw, for the server's own error form. */
  error?: unknown;
}

const KEY = 'tiny-harness.call';

export function attachCall(context: ServerCallContext, call: Call): void {
  context.state.set(KEY, call);
}

export function callOf(context: ServerCallContext): Call {
  return context.state.get(KEY) as Call;
}
