import type { JsonObject } from './json.ts';

/**
 * Every error code, with what it means and whether trying again can help. `docs/errors.md` lists the same codes; a
 * test compares the two. Codes are part of the public interface: `[retries] non_retryable_error_types` names them.
 */
export const ERROR_CODES = {
  'config.invalid': {
    retryable: false,
    summary: 'The configuration has a problem; the message names each key.',
  },
  'config.secret_missing': {
    retryable: false,
    summary: 'A secret is needed and its environment variable is not set.',
  },
  'harness.conflict': {
    retryable: false,
    summary: 'Another harness in this process holds the agent id, queue or store.',
  },
  'harness.already_started': { retryable: false, summary: 'start() was called twice.' },
  'harness.stopped': { retryable: false, summary: 'A harness runs once; it was stopped.' },
  'harness.not_started': { retryable: false, summary: 'Something needed a started harness.' },
  'input.invalid': {
    retryable: false,
    summary: 'A request has a missing or ill-typed field; the message names it.',
  },
  'input.message_id_reused': { retryable: false, summary: 'One message id was used with two bodies.' },
  'input.unsupported': {
    retryable: false,
    summary: 'The operation is not possible on this task or by this participant.',
  },
  'input.too_many_tasks': {
    retryable: true,
    summary: 'The caller has as many running tasks as it may have.',
  },
  'input.version': { retryable: false, summary: 'The A2A version of the request is not supported.' },
  'input.push_unsupported': {
    retryable: false,
    summary: 'Push notifications are not supported by this agent.',
  },
  'input.refused': {
    retryable: false,
    summary: 'A hook or policy refused the request; the message says why.',
  },
  'task.not_found': { retryable: false, summary: 'No such task for this caller.' },
  'task.closing': {
    retryable: true,
    summary: 'A commit is under way that parks or ends the task; try again when it is done.',
  },
  'task.ended': { retryable: false, summary: 'The task is in a terminal state and accepts nothing more.' },
  'task.not_cancelable': { retryable: false, summary: 'The task ended before it could be canceled.' },
  worker_unavailable: {
    retryable: true,
    summary:
      'No worker answered in time. The message may still be worked on; send it again with the same id.',
  },
  temporal_unavailable: {
    retryable: true,
    summary: 'Temporal did not answer. Send the message again with the same id.',
  },
  store_unavailable: { retryable: true, summary: 'The store could not be read or written.' },
  'store.write': { retryable: true, summary: 'A write to the store failed; the operation is not done.' },
  'store.corrupt': {
    retryable: false,
    summary: 'A record in the store is damaged; the message names its table and key.',
  },
  'store.schema_newer': {
    retryable: false,
    summary: 'The store was written by a newer version of this program.',
  },
  'store.foreign': {
    retryable: false,
    summary: 'The file is not a tiny-harness store of this implementation.',
  },
  store_mismatch: {
    retryable: false,
    summary: 'The task belongs to another store than the one this worker has.',
  },
  'provider.retryable': {
    retryable: true,
    summary: 'The model endpoint failed in a way that may pass (429, 5xx, timeout).',
  },
  'provider.error': {
    retryable: false,
    summary: 'The model endpoint refused the request or answered nonsense.',
  },
  'provider.context_exceeded': {
    retryable: false,
    summary: 'The request does not fit the context window of the model.',
  },
  'tool.unknown': { retryable: false, summary: 'The model called a tool that is not registered.' },
  'tool.invalid_arguments': {
    retryable: false,
    summary: 'The arguments of a tool call fail the schema of the tool.',
  },
  'tool.vetoed': { retryable: false, summary: 'A hook vetoed the call.' },
  'tool.denied': { retryable: false, summary: 'A rule, a person or a deadline refused the call.' },
  'tool.failed': { retryable: false, summary: 'The tool ran and failed.' },
  'tool.unavailable': { retryable: true, summary: 'The server of the tool did not answer.' },
  'tool.outcome_unknown': {
    retryable: false,
    summary:
      'The process died while the tool ran: whether it took effect is not known, and it is not run again.',
  },
  'tool.not_retried': { retryable: false, summary: 'The tool failed and is not safe to run again.' },
  'tool.schema_changed': {
    retryable: false,
    summary: 'The tool is not the one that was registered any more.',
  },
  'turn.interrupted': {
    retryable: false,
    summary: 'A turn was cut before it could be saved; the next one goes on.',
  },
  'hook.abort': { retryable: false, summary: 'A hook canceled the operation; the message is its reason.' },
  'hook.failed': { retryable: true, summary: 'A hook executor threw.' },
  'plan.invalid': { retryable: false, summary: 'The plan has a cycle, or a dangling or duplicate step.' },
  'limit.exceeded': { retryable: false, summary: 'A limit of the task was reached; the message names it.' },
  'temporal.binary_missing': {
    retryable: false,
    summary: 'The Temporal CLI is not here and could not be fetched.',
  },
  'temporal.start_failed': {
    retryable: false,
    summary: 'The embedded Temporal server did not become ready.',
  },
  'plugin.invalid': { retryable: false, summary: 'A plugin or an MCP configuration cannot be loaded.' },
  internal: { retryable: true, summary: 'An unexpected failure inside the harness. Please report it.' },
} as const satisfies Record<string, { retryable: boolean; summary: string }>;

/** One of the codes of `ERROR_CODES`. */
export type ErrorCode = keyof typeof ERROR_CODES;

const BRAND = Symbol.for('tiny-harness.error');

export interface ErrorOptions {
  readonly retryable?: boolean;
  readonly details?: JsonObject;
  readonly cause?: unknown;
}

/**
 * The base of every error of this package. `instanceof` works by a brand, so it holds across the workflow sandbox and
 * across two copies of the package. `message` says what happened, to which id, and what to do.
 */
export class HarnessError extends Error {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly details: JsonObject;
  readonly [BRAND]: readonly string[];

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.retryable = options.retryable ?? ERROR_CODES[code].retryable;
    this.details = options.details ?? {};
    this[BRAND] = classNames(new.target);
  }

  // biome-ignore-start lint/complexity/noThisInStatic: the class that `instanceof` was asked about
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value
      ? (value as { [BRAND]: readonly string[] })[BRAND].includes(this.name)
      : false;
  }
  // biome-ignore-end lint/complexity/noThisInStatic: the class that `instanceof` was asked about
}

function classNames(start: { name: string }): string[] {
  const names: string[] = [];
  for (
    let at: object | null = start;
    at !== null && at !== Error;
    at = Object.getPrototypeOf(at) as object | null
  ) {
    if (typeof at === 'function') names.push(at.name);
  }
  return names;
}

/** The configuration has a problem. `problems` lists all of them, one line each. */
export class ConfigError extends HarnessError {
  readonly problems: readonly string[];

  constructor(problems: string | readonly string[], options: ErrorOptions & { code?: ErrorCode } = {}) {
    const list = typeof problems === 'string' ? [problems] : problems;
    super(options.code ?? 'config.invalid', list.join('\n'), options);
    this.problems = list;
  }
}

/** A hook executor throws this to cancel its operation; the reason reaches the caller or the model (HK-4). */
export class HookAbort extends HarnessError {
  readonly reason: string;

  constructor(reason: string, options: ErrorOptions = {}) {
    super('hook.abort', reason, options);
    this.reason = reason;
  }
}

/** A model endpoint failed for good: trying the same request again cannot help (MD-4). */
export class ProviderError extends HarnessError {
  /** The HTTP status, when there was an answer. */
  readonly status: number | undefined;

  constructor(message: string, options: ErrorOptions & { status?: number; code?: ErrorCode } = {}) {
    super(options.code ?? 'provider.error', message, options);
    this.status = options.status;
  }
}

/** A model endpoint failed in a way that may pass: 429, 5xx, timeout, connection (MD-4). */
export class RetryableProviderError extends ProviderError {
  /** Milliseconds the endpoint asked to wait (`Retry-After`), when it did. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: ErrorOptions & { status?: number; retryAfterMs?: number } = {}) {
    super(message, { ...options, code: 'provider.retryable' });
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** A write to the store failed; the operation is not done and may be tried again (SR-3). */
export class StoreWriteError extends HarnessError {
  constructor(message: string, options: ErrorOptions = {}) {
    super('store.write', message, options);
  }
}

/** The message of anything thrown, in one line. */
export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\s*\n\s*/g, ' ');
}

/** Any thrown value as a `HarnessError`; what is not one becomes `code` (default `internal`) with the cause kept. */
export function asHarnessError(error: unknown, code: ErrorCode = 'internal'): HarnessError {
  return error instanceof HarnessError ? error : new HarnessError(code, messageOf(error), { cause: error });
}
