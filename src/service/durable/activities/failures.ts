import { ApplicationFailure } from '@temporalio/activity';
import {
  asHarnessError,
  type HarnessError,
  HookAbort,
  RetryableProviderError,
} from '../../../core/base/index.ts';
import type { AttemptFailure, OperationScope } from '../../../core/hooks/index.ts';
import type { ActivityDeps } from './deps.ts';

/** Longest message that goes into a history. */
const MESSAGE_LENGTH = 500;

/** Which attempt at what failed. */
export interface FailedAttempt {
  readonly activity: string;
  readonly taskId: string;
  readonly attempt: number;
}

/**
 * What the workflow reads of a failed attempt: the code as its type, whether trying again may help, how long to wait.
 * The hooks of `activity.failed` and `activity.retried` have had their say (DU-4).
 */
export async function judgeFailure(
  deps: ActivityDeps,
  thrown: unknown,
  at: FailedAttempt,
): Promise<ApplicationFailure> {
  const error = asHarnessError(thrown);
  deps.report({ kind: 'failure', ...at, error });
  const failure: AttemptFailure = {
    activity: at.activity,
    attempt: at.attempt,
    code: error.code,
    message: deps.redactText(error.message).slice(0, MESSAGE_LENGTH),
    retryable: error.retryable,
  };
  try {
    const { judged, delayMs } = await heard(deps, failure, error, at);
    return toFailure(judged, delayMs);
  } catch (hookError) {
    // Only an abort ends it for good; an executor that breaks must not hide what it was told of, or change it.
    if (!(hookError instanceof HookAbort)) return toFailure(failure, delayAskedBy(error));
    const message = deps.redactText(`${failure.message} (${hookError.reason})`);
    return toFailure({ ...failure, message, retryable: false }, null);
  }
}

/** A worker was lost while an attempt ran: its hooks run at the start of the next one (DU-4). @throws HookAbort */
export async function reportLoss(deps: ActivityDeps, at: FailedAttempt): Promise<void> {
  if (!deps.hooks.listens('activity.failed.pre', 'activity.retried.pre')) return;
  const { activity, attempt } = at;
  const scope = await scopeOf(deps, at);
  const input = {
    activity,
    attempt,
    code: 'worker_unavailable',
    message: 'the worker was lost',
    retryable: true,
  };
  await deps.hooks.phase('pre', { operation: 'activity.failed', scope, input });
  await deps.hooks.phase('pre', {
    operation: 'activity.retried',
    scope,
    input: { activity, attempt, delayMs: null },
  });
}

async function heard(
  deps: ActivityDeps,
  failure: AttemptFailure,
  error: HarnessError,
  at: FailedAttempt,
): Promise<{ judged: AttemptFailure; delayMs: number | null }> {
  const asked = delayAskedBy(error);
  if (!deps.hooks.listens('activity.failed.pre', 'activity.retried.pre')) {
    return { judged: failure, delayMs: asked };
  }
  const scope = await scopeOf(deps, at);
  const failed = await deps.hooks.phase('pre', { operation: 'activity.failed', scope, input: failure });
  if (!failed.input.retryable) return { judged: failed.input, delayMs: asked };
  const { activity, attempt } = at;
  const retried = await deps.hooks.phase('pre', {
    operation: 'activity.retried',
    scope,
    input: { activity, attempt, delayMs: asked },
  });
  return { judged: failed.input, delayMs: retried.input.delayMs };
}

function delayAskedBy(error: HarnessError): number | null {
  return error instanceof RetryableProviderError ? (error.retryAfterMs ?? null) : null;
}

async function scopeOf(deps: ActivityDeps, { taskId, attempt }: FailedAttempt): Promise<OperationScope> {
  // The store may be what failed: hooks are told of that all the same.
  const task = await deps.journal.store.task(taskId).catch(() => undefined);
  return {
    agentId: deps.agentId,
    taskId,
    ...(task ? { contextId: task.contextId } : {}),
    participants: task?.data.participants ?? [],
    correlationId: taskId,
    attempt,
  };
}

function toFailure(failure: AttemptFailure, retryAfterMs: number | null): ApplicationFailure {
  const made = ApplicationFailure.create({
    message: failure.message,
    type: failure.code,
    nonRetryable: !failure.retryable,
    ...(retryAfterMs === null ? {} : { details: [{ retryAfterMs }] }),
  });
  // Paths of a machine are nothing for a history; the stack is in the log.
  made.stack = '';
  return made;
}
