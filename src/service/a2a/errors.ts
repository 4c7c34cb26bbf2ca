import { A2A_ERROR_CODE, A2A_ERROR_DOMAIN, ERROR_INFO_TYPE, type ErrorDetail } from '@a2a-js/sdk/errors';
import { asHarnessError, type ErrorCode, type HarnessError } from '../../core/base/index.ts';

/** An error as A2A answers it, before a binding gives it its form. */
export interface WireError {
  /** JSON-RPC's code. */
  readonly code: number;
  readonly message: string;
  readonly data: readonly ErrorDetail[];
}

const BAD_REQUEST_TYPE = 'type.googleapis.com/google.rpc.BadRequest';

/** Reasons and JSON-RPC codes of our error codes; whatever is not here is an internal error. */
const WIRE: Partial<Record<ErrorCode, { readonly code: number; readonly reason: string }>> = {
  'input.invalid': { code: A2A_ERROR_CODE.INVALID_PARAMS, reason: 'INVALID_PARAMS' },
  'input.message_id_reused': { code: A2A_ERROR_CODE.INVALID_PARAMS, reason: 'MESSAGE_ID_REUSED' },
  'input.unsupported': { code: A2A_ERROR_CODE.UNSUPPORTED_OPERATION, reason: 'UNSUPPORTED_OPERATION' },
  'input.refused': { code: A2A_ERROR_CODE.UNSUPPORTED_OPERATION, reason: 'UNSUPPORTED_OPERATION' },
  'hook.abort': { code: A2A_ERROR_CODE.UNSUPPORTED_OPERATION, reason: 'UNSUPPORTED_OPERATION' },
  'task.not_found': { code: A2A_ERROR_CODE.TASK_NOT_FOUND, reason: 'TASK_NOT_FOUND' },
  'task.ended': { code: A2A_ERROR_CODE.UNSUPPORTED_OPERATION, reason: 'UNSUPPORTED_OPERATION' },
  'task.not_cancelable': { code: A2A_ERROR_CODE.TASK_NOT_CANCELABLE, reason: 'TASK_NOT_CANCELABLE' },
  'input.version': { code: A2A_ERROR_CODE.VERSION_NOT_SUPPORTED, reason: 'VERSION_NOT_SUPPORTED' },
  'input.push_unsupported': {
    code: A2A_ERROR_CODE.PUSH_NOTIFICATION_NOT_SUPPORTED,
    reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
  },
  worker_unavailable: { code: A2A_ERROR_CODE.INTERNAL_ERROR, reason: 'worker_unavailable' },
  temporal_unavailable: { code: A2A_ERROR_CODE.INTERNAL_ERROR, reason: 'temporal_unavailable' },
  store_unavailable: { code: A2A_ERROR_CODE.INTERNAL_ERROR, reason: 'store_unavailable' },
  'store.write': { code: A2A_ERROR_CODE.INTERNAL_ERROR, reason: 'store_unavailable' },
};

/** Any thrown value as A2A answers it. What is not ours says nothing of its insides. */
export function toWireError(thrown: unknown): WireError {
  const error = asHarnessError(thrown);
  const known = WIRE[error.code];
  if (known === undefined) {
    return {
      code: A2A_ERROR_CODE.INTERNAL_ERROR,
      message: 'internal error',
      data: [info('INTERNAL', {})],
    };
  }
  return {
    code: known.code,
    message: error.message,
    data: [info(known.reason, metadataOf(error)), ...violations(error)],
  };
}

/** An error of JSON-RPC itself, in the same form. */
export function protocolError(code: number, reason: string, message: string): WireError {
  return { code, message, data: [info(reason, {})] };
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
