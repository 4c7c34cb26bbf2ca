import type { RetryPolicy, TaskOptions } from '../durable/contract/index.ts';
import type { RetryPolicySettings, Settings } from './settings/index.ts';

/** Nothing the harness starts may run longer than this without a sign of life beyond its heartbeat. */
const LONGEST_ACTIVITY_MS = 3_600_000;

/** What a task's workflow keeps of the settings. */
export function taskOptions(settings: Settings): TaskOptions {
  const { retries } = settings;
  const policy = (name: keyof typeof retries.perActivity) =>
    policyOf(retries.perActivity[name] ?? retries.default);
  return {
    heartbeatTimeoutMs: settings.temporal.heartbeatTimeoutMs,
    modelTimeoutMs: LONGEST_ACTIVITY_MS,
    toolTimeoutMs: LONGEST_ACTIVITY_MS,
    historyEventBound: settings.context.historyEventBound,
    retries: { modelTurn: policy('modelTurn'), runTool: policy('toolRun'), commit: policy('commit') },
  };
}

function policyOf(settings: RetryPolicySettings): RetryPolicy {
  const { nonRetryableErrorTypes, ...times } = settings;
  return { ...times, nonRetryable: nonRetryableErrorTypes };
}
