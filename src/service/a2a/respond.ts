import type { WireError } from './errors.ts';
import type { Outcome, StreamItem } from './operations.ts';
import { type SseEvent, type SseOptions, sseBody } from './sse.ts';

/** How a binding writes what became of an operation. */
export interface Binding {
  answer(result: unknown, headers: Record<string, string>): Response;
  error(error: WireError, headers: Record<string, string>): Response;
  event(result: unknown): SseEvent;
  /** The last event of a stream that broke. */
  failedEvent(error: WireError): SseEvent;
}

/** An operation's outcome in a binding's form. */
export function respond(binding: Binding, outcome: Outcome, options: SseOptions): Response {
  switch (outcome.kind) {
    case 'answer':
      return binding.answer(outcome.result, outcome.headers);
    case 'error':
      return refuse(binding, outcome.error);
    case 'stream':
      return new Response(sseBody(eventsOf(binding, outcome.items), outcome.cancel, options), {
        headers: {
          ...outcome.headers,
          'content-type': 'text/event-stream',
          'cache-control': 'no-cache, no-transform',
          'x-accel-buffering': 'no',
        },
      });
  }
}

/** An error in a binding's form. */
export function refuse(binding: Binding, error: WireError, headers: Record<string, string> = {}): Response {
  const { retryAfterS } = error;
  return binding.error(
    error,
    retryAfterS === undefined ? headers : { ...headers, 'retry-after': String(retryAfterS) },
  );
}

async function* eventsOf(
  binding: Binding,
  items: AsyncGenerator<StreamItem, void, undefined>,
): AsyncGenerator<SseEvent, void, undefined> {
  for await (const item of items) {
    yield item.kind === 'error'
      ? binding.failedEvent(item.error)
      : { ...binding.event(item.result), id: item.id };
  }
}
