import { A2A_ERROR_CODE, A2A_ERROR_DOMAIN, ERROR_INFO_TYPE, type ErrorDetail } from '@a2a-js/sdk/errors';
import { asHarnessError, type ErrorCode, type HarnessError } from '../../core/base/index.ts';

/** An error as A2A answers it, before a binding gives it its form. */
export interface WireError {
  /** JSON-RPC's code. */
  readonly code: number;
  readonly message: string;
  readonly details: readonly ErrorDetail[];
  /** HTTP+JSON's status, and its name in `google.rpc.Code`. */
  readonly http: HttpStatus;
  /** True when JSON-RPC answers with this HTTP status too: the request never became a call. */
  readonly uncalled?: boolean;
  /** When to try again, in seconds. */
  readonly retryAfterS?: number;
}

interface HttpStatus {
  readonly status: number;
  readonly name: string;
}

const BAD_REQUEST_TYPE = 'type.googleapis.com/google.rpc.BadRequest';

/** When to try again what a part of the service was not there for, or was too much. */
const RETRY_AFTER_S = 5;

/** JSON-RPC's range for errors of an implementation's own; A2A's begin at -32001. */
const LIMIT_EXCEEDED = -32000;

const INVALID: HttpStatus = { status: 400, name: 'INVALID_ARGUMENT' };
const PRECONDITION: HttpStatus = { status: 400, name: 'FAILED_PRECONDITION' };
const NOT_FOUND: HttpStatus = { status: 404, name: 'NOT_FOUND' };
const UNAVAILABLE: HttpStatus = { status: 503, name: 'UNAVAILABLE' };
const INTERNAL: HttpStatus = { status: 500, name: 'INTERNAL' };
const EXHAUSTED: HttpStatus = { status: 429, name: 'RESOURCE_EXHAUSTED' };

/** Reasons that clients tell errors by: JSON-RPC's code and HTTP's status of each. */
const REASONS = {
  PARSE_ERROR: { code: A2A_ERROR_CODE.PARSE_ERROR, http: INVALID },
  INVALID_REQUEST: { code: A2A_ERROR_CODE.INVALID_REQUEST, http: INVALID },
  REQUEST_TOO_LARGE: {
    code: A2A_ERROR_CODE.INVALID_REQUEST,
    http: { ...INVALID, status: 413 },
    uncalled: true,
  },
  METHOD_NOT_FOUND: { code: A2A_ERROR_CODE.METHOD_NOT_FOUND, http: NOT_FOUND },
  METHOD_NOT_ALLOWED: {
    code: A2A_ERROR_CODE.METHOD_NOT_FOUND,
    http: { status: 405, name: 'UNIMPLEMENTED' },
  },
  INVALID_PARAMS: { code: A2A_ERROR_CODE.INVALID_PARAMS, http: INVALID },
  MESSAGE_ID_REUSED: { code: A2A_ERROR_CODE.INVALID_PARAMS, http: INVALID },
  TASK_NOT_FOUND: { code: A2A_ERROR_CODE.TASK_NOT_FOUND, http: NOT_FOUND },
  TASK_NOT_CANCELABLE: { code: A2A_ERROR_CODE.TASK_NOT_CANCELABLE, http: PRECONDITION },
  PUSH_NOTIFICATION_NOT_SUPPORTED: {
    code: A2A_ERROR_CODE.PUSH_NOTIFICATION_NOT_SUPPORTED,
    http: PRECONDITION,
  },
  UNSUPPORTED_OPERATION: { code: A2A_ERROR_CODE.UNSUPPORTED_OPERATION, http: PRECONDITION },
  CONTENT_TYPE_NOT_SUPPORTED: { code: A2A_ERROR_CODE.CONTENT_TYPE_NOT_SUPPORTED, http: INVALID },
  VERSION_NOT_SUPPORTED: { code: A2A_ERROR_CODE.VERSION_NOT_SUPPORTED, http: PRECONDITION },
  RATE_LIMITED: { code: LIMIT_EXCEEDED, http: EXHAUSTED, uncalled: true },
  TOO_MANY_TASKS: { code: LIMIT_EXCEEDED, http: EXHAUSTED, uncalled: true },
  TOO_MANY_STREAMS: { code: LIMIT_EXCEEDED, http: EXHAUSTED, uncalled: true },
  worker_unavailable: { code: A2A_ERROR_CODE.INTERNAL_ERROR, http: UNAVAILABLE },
  temporal_unavailable: { code: A2A_ERROR_CODE.INTERNAL_ERROR, http: UNAVAILABLE },
  store_unavailable: { code: A2A_ERROR_CODE.INTERNAL_ERROR, http: UNAVAILABLE },
  INTERNAL: { code: A2A_ERROR_CODE.INTERNAL_ERROR, http: INTERNAL },
} as const satisfies Record<string, Pick<WireError, 'code' | 'http' | 'uncalled'>>;

type Reason = keyof typeof REASONS;

/** The reason that each of our error codes is told by; whatever is not here is an internal error. */
const REASON_OF: Partial<Record<ErrorCode, Reason>> = {
  'input.invalid': 'INVALID_PARAMS',
  'input.message_id_reused': 'MESSAGE_ID_REUSED',
  'input.too_many_tasks': 'TOO_MANY_TASKS',
  'input.unsupported': 'UNSUPPORTED_OPERATION',
  'input.refused': 'UNSUPPORTED_OPERATION',
  'hook.abort': 'UNSUPPORTED_OPERATION',
  'task.not_found': 'TASK_NOT_FOUND',
  'task.ended': 'UNSUPPORTED_OPERATION',
  'task.not_cancelable': 'TASK_NOT_CANCELABLE',
  'input.version': 'VERSION_NOT_SUPPORTED',
  'input.push_unsupported': 'PUSH_NOTIFICATION_NOT_SUPPORTED',
  worker_unavailable: 'worker_unavailable',
  temporal_unavailable: 'temporal_unavailable',
  store_unavailable: 'store_unavailable',
  'store.write': 'store_unavailable',
};

/** Any thrown value as A2A answers it. What is not ours says nothing of its insides. */
export function toWireError(thrown: unknown): WireError {
  const error = asHarnessError(thrown);
  const reason = REASON_OF[error.code];
  if (reason === undefined) return wireError('INTERNAL', 'internal error');
  const { http } = REASONS[reason];
  return {
    ...wireError(reason, error.message),
    details: [info(reason, metadataOf(error)), ...violations(error)],
    ...(http === UNAVAILABLE || http === EXHAUSTED ? { retryAfterS: RETRY_AFTER_S } : {}),
  };
}

/** What is said before an operation begins, when no code of ours stands for it. */
export function wireError(reason: Reason, message: string): WireError {
  return { ...REASONS[reason], message, details: [info(reason, {})] };
}

function info(reason: string, metadata: Record<string, string>): ErrorDetail {
  return { '@type': ERROR_INFO_TYPE, reason, domain: A2A_ERROR_DOMAIN, metadata };
}

function metadataOf(error: HarnessError): Record<string, string> {
  const { reason } = error.details;
  return typeof reason === 'string' ? { reason } : {};
}

/** A bad shape names its field. */
function violations(error: HarnessError): ErrorDetail[] {
  const { field } = error.details;
  if (typeof field !== 'string') return [];
  return [{ '@type': BAD_REQUEST_TYPE, fieldViolations: [{ field, description: error.message }] }];
}
