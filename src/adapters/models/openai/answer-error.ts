/**
 * A 2xx answer that makes no sense. The message completes the sentence "model endpoint … ": the mapping of errors
 * puts the endpoint before it.
 */
export class AnswerError extends Error {
  override readonly name = 'AnswerError';
}
