/**
 * The effects of the loop, as activities of a worker. Each is a plain function over `ActivityDeps`; `createActivities`
 * gives them what Temporal knows of the attempt and turns their errors into its failures.
 */
import { ApplicationFailure, activityInfo, CancelledFailure, Context } from '@temporalio/activity';
import type { Attempt, TaskActivities } from '../contract/index.ts';
import { commit } from './commit.ts';
import { Conversations } from './conversation.ts';
import type { ActivityDeps, Run } from './deps.ts';
import { judgeFailure, reportLoss } from './failures.ts';
import { forward } from './forward.ts';
import { modelTurn } from './model-turn.ts';
import { requestApproval } from './request-approval.ts';
import { requestHelp } from './request-help.ts';
import { runCommand } from './run-command.ts';
import { runTool } from './run-tool.ts';
import { spawnSubtask } from './spawn-subtask.ts';

export type { ActivityDeps, ActivityEvent } from './deps.ts';

/** The activities of one agent's worker. */
export function createActivities(deps: ActivityDeps): TaskActivities {
  const conversations = new Conversations(deps.journal.store);
  const as = <T>(
    activity: string,
    { number, afterLoss }: Attempt,
    taskId: string,
    body: (run: Run) => Promise<T>,
  ): Promise<T> =>
    beating(async () => {
      const signal = Context.current().cancellationSignal;
      const at = { activity, taskId, attempt: number };
      try {
        if (afterLoss) await reportLoss(deps, at);
        return await body({ attempt: number, signal });
      } catch (error) {
        throw signal.aborted ? cutOrLost(signal.reason) : await judgeFailure(deps, error, at);
      }
    });
  return {
    modelTurn: (input, attempt) =>
      as('modelTurn', attempt, input.taskId, (run) => modelTurn(deps, conversations, input, run)),
    runTool: (input, attempt) => as('runTool', attempt, input.taskId, (run) => runTool(deps, input, run)),
    requestHelp: (input, attempt) =>
      as('requestHelp', attempt, input.taskId, (run) => requestHelp(deps, input, run)),
    requestApproval: (input, attempt) =>
      as('requestApproval', attempt, input.taskId, () => requestApproval(deps, input)),
    spawnSubtask: (input, attempt) =>
      as('spawnSubtask', attempt, input.taskId, (run) => spawnSubtask(deps, input, run)),
    forward: (input, attempt) => as('forward', attempt, input.taskId, () => forward(deps, input)),
    runCommand: (input, attempt) =>
      as('runCommand', attempt, input.taskId, (run) => runCommand(deps, input, run)),
    commit: (input, attempt) =>
      as('commit', attempt, input.taskId, (run) => commit(deps, conversations, input, run)),
  };
}

/** Heartbeats while the body runs: a lost worker is noticed, and a cut reaches the activity (DU-5). */
async function beating<T>(body: () => Promise<T>): Promise<T> {
  const { heartbeatTimeoutMs } = activityInfo();
  if (heartbeatTimeoutMs === undefined) return body();
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), Math.min(500, heartbeatTimeoutMs / 4));
  try {
    return await body();
  } finally {
    clearInterval(beat);
  }
}

/** A cut was asked for by the workflow; a worker that shuts down is a lost one, to be replaced (DU-4). */
function cutOrLost(reason: unknown): Error {
  const shutdown = reason instanceof Error && reason.message === 'WORKER_SHUTDOWN';
  return shutdown
    ? ApplicationFailure.retryable('the worker was shut down', 'WorkerShutdown')
    : new CancelledFailure('cut');
}
