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
  const firstExchange = state.exchange;
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
      // A run that has done nothing would only be followed by another.
      return (
        state.exchange > firstExchange &&
        (info.continueAsNewSuggested || info.historyLength > options.historyEventBound)
      );
    },
  };
}
