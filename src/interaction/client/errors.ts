import { A2AError } from '@a2a-js/sdk/errors';
import { messageOf } from '../../core/base/index.ts';

/**
 * - `unreachable`: nobody answers at the address, or the connection was lost and did not come back.
 * - `refused`: the agent answered with an error; the message is its own.
 * - `not_an_agent`: something answers there, but not A2A as this client speaks it.
 */
export type AgentErrorKind = 'unreachable' | 'refused' | 'not_an_agent';

/** What went wrong between a client and an agent. The message may quote the agent: show it inert. */
export class AgentError extends Error {
  readonly kind: AgentErrorKind;

  constructor(kind: AgentErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AgentError';
    this.kind = kind;
  }
}

/** Any failure of the SDK as an `AgentError`. */
export function asAgentError(error: unknown, url: string): AgentError {
  if (error instanceof AgentError) return error;
  const answer = answerOf(error);
  if (answer !== undefined) return new AgentError('refused', answer.message, { cause: error });
  const code = networkCode(error);
  if (code !== undefined)
    return new AgentError('unreachable', `${url} does not answer (${code})`, { cause: error });
  // `fetch failed` alone helps nobody.
  const cause = error instanceof Error && error.cause !== undefined ? `: ${messageOf(error.cause)}` : '';
  return new AgentError('not_an_agent', `${url}: ${messageOf(error)}${cause}`, { cause: error });
}

/** The agent's own error behind what the SDK threw; one that comes within a stream is wrapped. */
export function answerOf(error: unknown): A2AError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if (at instanceof A2AError) return at;
  }
  return undefined;
}

/** `ECONNREFUSED` and the like, wherever `fetch` has hidden it; `terminated` for a connection that broke off. */
function networkCode(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > 5) return undefined;
  if ('code' in error && typeof error.code === 'string' && /^(E[A-Z_]+|UND_ERR_\w+)$/.test(error.code)) {
    return error.code;
  }
  const inner: readonly unknown[] = error instanceof AggregateError ? error.errors : [error.cause];
  for (const each of inner) {
    const code = networkCode(each, depth + 1);
    if (code !== undefined) return code;
  }
  return error instanceof TypeError && error.message === 'terminated' ? error.message : undefined;
}
