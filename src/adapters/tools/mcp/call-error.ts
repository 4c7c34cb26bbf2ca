import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { HarnessError, messageOf } from '../../../core/base/index.ts';
import { isSafeToRepeat } from '../../../core/tools/index.ts';
import { AnswerLostError } from './http-transport.ts';
import type { McpTool } from './tool.ts';

/** A call to a tool of a server that is not there: nothing was sent. */
export function unavailable(tool: McpTool, why: string, cause?: unknown): HarnessError {
  return new HarnessError('tool.unavailable', `${tool.name} was not called: ${why}`, {
    cause,
    details: { tool: tool.name },
  });
}

/** True when the error says that the connection is of no use any more and a new one is needed. */
export function endsConnection(error: unknown): boolean {
  if (error instanceof SdkHttpError) return error.status === 404;
  // What `fetch` throws when there is no HTTP answer at all.
  return error instanceof TypeError && error.message === 'fetch failed';
}

/**
 * What a failed call becomes. A call that was sent and not answered may have taken effect: unless the tool is safe to
 * repeat, that is `tool.outcome_unknown`, which nobody tries again (TL-2).
 */
export function callError(tool: McpTool, error: unknown, options: { canceled: boolean }): HarnessError {
  if (error instanceof HarnessError) return error;
  const details = { tool: tool.name };
  const safe = isSafeToRepeat(tool.annotations);
  const unknown = (why: string) =>
    new HarnessError('tool.outcome_unknown', `${tool.name} ${why}; whether it took effect is not known`, {
      cause: error,
      details,
    });
  const failed = (why: string) =>
    new HarnessError('tool.failed', `${tool.name} ${why}`, { cause: error, details });

  if (options.canceled) return failed('was canceled; its server was told to stop');
  if (wasNotSent(error)) return unavailable(tool, 'its server does not answer', error);
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    const why = 'did not answer within its time limit and was canceled';
    return safe ? failed(why) : unknown(why);
  }
  if (isConnectionLoss(error)) {
    const why = 'lost its server before it answered';
    return safe
      ? new HarnessError('tool.unavailable', `${tool.name} ${why}`, { cause: error, details })
      : unknown(why);
  }
  return failed(`failed: ${messageOf(error)}`);
}

function wasNotSent(error: unknown): boolean {
  if (error instanceof SdkHttpError) return error.status === 404;
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EAI_AGAIN';
}

function isConnectionLoss(error: unknown): boolean {
  if (error instanceof AnswerLostError || endsConnection(error)) return true;
  if (error instanceof SdkHttpError) return error.status >= 502 && error.status <= 504;
  return (
    error instanceof SdkError &&
    (error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.NotConnected)
  );
}
