import type { AbortSignalLike } from '../base/index.ts';
import type { LlmPort, LlmRequest, LlmResponse } from './llm.ts';
import { usageOf } from './tokens.ts';

/**
 * Reads a stream to its end and returns the answer, with its usage estimated where the provider reported none. `onText`
 * sees each piece of text in order.
 */
export async function invokeLlm(
  llm: LlmPort,
  request: LlmRequest,
  signal: AbortSignalLike,
  onText: (delta: string) => void = () => {},
): Promise<LlmResponse> {
  for await (const event of llm.stream(request, signal)) {
    if (event.type === 'done') return { ...event.response, usage: usageOf(request, event.response) };
    onText(event.delta);
  }
  throw new TypeError(`the adapter "${llm.description}" ended a stream without a "done" event`);
}
