/**
 * A 2xx answer that makes no sense. The message completes the sentence "model endpoint … ": the mapping of errors
 * puts the endpoint before it.
 */
export class AnswerError extends Error {
  override readonly name = 'AnswerError';
}

/** A stream that ended after so many events without saying that the answer was finished (MD-4). */
export function unfinished(events: number): AnswerError {
  return new AnswerError(
    events === 0
      ? 'answered without a single event; check that the base URL is the one of an OpenAI-compatible API (most end in /v1)'
      : 'ended the answer before it was finished; nothing of it is used, try again',
  );
}
