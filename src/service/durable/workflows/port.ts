import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import {
  ActivityCancellationType,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  proxyActivities,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { type AbortSignalLike, createAbort } from '../../../core/base/index.ts';
import type { CarriedState, CommitOutput, LoopPort, Outcome, TaskState } from '../../../core/loop/index.ts';
import {
  type Attempt,
  CANCEL_SIGNAL,
  REPORT_SIGNAL,
  SEARCH_ATTRIBUTES,
  type TaskActivities,
  type TaskOptions,
} from '../contract/index.ts';
import { untilDone, withAttempts } from './attempts.ts';

const TASK_STATE = defineSearchAttributeKey(SEARCH_ATTRIBUTES.taskState, SearchAttributeType.KEYWORD);

/** A commit is short; a worker lost with one delays the task by this at most. */
const COMMIT_TIMEOUT_MS = 10_000;

/** The loop's port as activity proxies. Every activity has one server-side attempt; attempts are managed here (DU-4). */
export function createPort(state: CarriedState, options: TaskOptions): LoopPort {
  const begun = { exchange: state.exchange, turns: state.turnsTotal };
  const heartbeatTimeout = options.heartbeatTimeoutMs;
  const once = { maximumAttempts: 1 };
  const cancellationType = ActivityCancellationType.WAIT_CANCELLATION_COMPLETED;
  const model = proxyActivities<TaskActivities>({
    startToCloseTimeout: options.modelTimeoutMs,
    heartbeatTimeout,
    retry: once,
    cancellationType,
  });
  const tool = proxyActivities<TaskActivities>({
    startToCloseTimeout: options.toolTimeoutMs,
    heartbeatTimeout,
    retry: once,
    cancellationType,
  });
  const store = proxyActivities<TaskActivities>({
    startToCloseTimeout: COMMIT_TIMEOUT_MS,
    retry: once,
    cancellationType: ActivityCancellationType.ABANDON,
  });
  const publish = (next: TaskState) => {
    if (state.searchAttributes) upsertSearchAttributes([{ key: TASK_STATE, value: next }]);
  };

  /** Effects that are patient with a model or another task, and stopped by the cut. */
  const patiently = <T>(
    call: (attempt: Attempt) => Promise<T>,
    signal: AbortSignalLike,
  ): Promise<Outcome<T>> => withAttempts(call, options.retries.modelTurn, signal);

  return {
    async until(ready, deadline) {
      if (deadline === undefined) await condition(ready);
      // A time that is over already is no reason to wait for a timer.
      else await condition(ready, Math.max(1, deadline - now()));
    },
    modelTurn(input, signal) {
      if (input.turn === 0) publish('WORKING');
      return withAttempts((attempt) => model.modelTurn(input, attempt), options.retries.modelTurn, signal);
    },
    async runTool(input, { repeatable }, signal) {
      // One that may not run twice is run once; what fails after that is settled, never run again (DU-4).
      const once = { ...options.retries.runTool, maximumAttempts: 1, lossIsFinal: true };
      const outcome = await withAttempts(
        (attempt) => tool.runTool(input, attempt),
        repeatable ? options.retries.runTool : once,
        signal,
      );
      if (outcome.kind !== 'failed') return outcome;
      const { code, message } = outcome;
      const settle = { ...input, mode: 'settle' as const, failure: { code, message } };
      return withAttempts((attempt) => tool.runTool(settle, attempt), options.retries.commit, signal);
    },
    requestHelp: (input, signal) => patiently((attempt) => model.requestHelp(input, attempt), signal),
    requestApproval: (input, signal) => patiently((attempt) => model.requestApproval(input, attempt), signal),
    spawnSubtask: (input, signal) => patiently((attempt) => model.spawnSubtask(input, attempt), signal),
    runCommand: (input) => patiently((attempt) => model.runCommand(input, attempt), createAbort().signal),
    forward: (input) => untilDone((attempt) => model.forward(input, attempt), options.retries.commit),
    report: (parent, report) => toldIfThere(parent, REPORT_SIGNAL, report),
    cancelChild: (taskId, by) => toldIfThere(taskId, CANCEL_SIGNAL, by),
    async commit(input): Promise<CommitOutput> {
      const output = await untilDone((attempt) => store.commit(input, attempt), options.retries.commit);
      publish(output.state);
      return output;
    },
    now,
    shouldCarryOver() {
      const info = workflowInfo();
      // A run that has done nothing would only be followed by another.
      return (
        (state.exchange > begun.exchange || state.turnsTotal > begun.turns) &&
        (info.continueAsNewSuggested || info.historyLength > options.historyEventBound)
      );
    },
  };
}

/** Temporal's clock: it stands still within an activation and is the same in a replay. */
function now(): number {
  // oxlint-disable-next-line no-restricted-properties
  return Date.now();
}

/** Signals another task's workflow; when that is gone, nobody is left to tell. */
async function toldIfThere(taskId: string, signal: string, argument: unknown): Promise<void> {
  try {
    await getExternalWorkflowHandle(taskId).signal(signal, argument);
  } catch (error) {
    if (isCancellation(error)) throw error;
  }
}
