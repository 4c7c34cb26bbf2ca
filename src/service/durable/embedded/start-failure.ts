import { HarnessError } from '../../../core/base/index.ts';

/** The error of a start that failed, with the end of the server's log when there is one (EM-1). */
export function startFailure(
  what: string,
  cause?: unknown,
  log?: { readonly path: string; readonly tail: string },
): HarnessError {
  const end =
    log === undefined ? '' : `\nThe end of its log (${log.path}):\n${log.tail || '(nothing was written)'}`;
  return new HarnessError(
    'temporal.start_failed',
    `The embedded Temporal server did not start: ${what}.${end}`,
    {
      ...(cause === undefined ? {} : { cause }),
      ...(log === undefined ? {} : { details: { log: log.path, tail: log.tail } }),
    },
  );
}
