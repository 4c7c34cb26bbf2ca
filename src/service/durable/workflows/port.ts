import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import {
  ActivityCancellationType,
  condition,
  proxyActivities,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { CarriedState, CommitOutput, LoopPort, TaskState } from '../../../core/loop/index.ts';
import { SEARCH_ATTRIBUTES, type TaskActivities, type TaskOptions } from '../contract/index.ts';
import { untilDone, withAttempts } from './attempts.ts';

const TASK_STATE = defineSearchAttributeKey(SEARCH_ATTRIBUTES.taskState, SearchAttributeType.KEYWORD);

/** A commit is short; a worker lost with one delays the task by this at most. */
const COMMIT_TIMEOUT_MS = 10_000;

/** The loop's port as activity proxies. Every activity has one server-side attempt; attempts are managed here (DU-4). */
export function createPort(state: CarriedState, options: TaskOptions): LoopPort {
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

  return {
    until: (ready) => condition(ready),
    modelTurn(input, signal) {
      if (input.turn === 0) publish('WORKING');
      return withAttempts((attempt) => model.modelTurn(input, attempt), options.retries.modelTurn, signal);
    },
    runTool(input, { repeatable }, signal) {
      // A tool that may not run twice is never run again after a lost worker: the store says what is known (DU-4).
      return withAttempts(
        (attempt) =>
          tool.runTool(attempt.afterLoss && !repeatable ? { ...input, mode: 'recover' } : input, attempt),
        repeatable ? options.retries.runTool : { ...options.retries.runTool, maximumAttempts: 1 },
        signal,
      );
    },
    askParticipant(input, signal) {
      return withAttempts(
        (attempt) => model.askParticipant(input, attempt),
        options.retries.modelTurn,
        signal,
      );
    },
    async commit(input): Promise<CommitOutput> {
      const output = await untilDone((attempt) => store.commit(input, attempt), options.retries.commit);
      publish(output.state);
      return output;
    },
    // Temporal's clock: it stands still within an activation and is the same in a replay.
    // oxlint-disable-next-line no-restricted-properties
    now: () => Date.now(),
    shouldCarryOver() {
      const info = workflowInfo();
      return info.continueAsNewSuggested || info.historyLength > options.historyEventBound;
    },
  };
}
