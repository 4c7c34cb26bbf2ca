import type { SettingsFile } from '../schema/index.ts';
import { defined } from '../tables.ts';
import type {
  LimitSettings,
  PriceSettings,
  RetentionSettings,
  RetriedActivity,
  RetryPolicySettings,
  RetrySettings,
  Settings,
} from '../types.ts';
import type { Scope } from './scope.ts';

/** By the names a file may use: those of 0.9 and our own. */
const ACTIVITIES: ReadonlyMap<string, RetriedActivity> = new Map([
  ['invoke_llm', 'modelTurn'],
  ['model_turn', 'modelTurn'],
  ['invoke_tool', 'toolRun'],
  ['tool_run', 'toolRun'],
  ['persist', 'commit'],
  ['commit', 'commit'],
]);

export function resolveRetries(scope: Scope): RetrySettings {
  const perActivity: Partial<Record<RetriedActivity, RetryPolicySettings>> = {};
  for (const [name, written] of Object.entries(scope.file.retries.per_activity)) {
    const activity = ACTIVITIES.get(name);
    if (activity === undefined) scope.idle.push(`retries.per_activity.${name}`);
    else perActivity[activity] = policy(written);
  }
  return { default: policy(scope.file.retries.default), perActivity };
}

function policy(written: SettingsFile['retries']['default']): RetryPolicySettings {
  return {
    initialIntervalMs: written.initial_interval,
    backoffCoefficient: written.backoff_coefficient,
    maximumIntervalMs: written.maximum_interval,
    maximumAttempts: written.maximum_attempts,
    nonRetryableErrorTypes: written.non_retryable_error_types,
  };
}

export function resolveRetention(scope: Scope): RetentionSettings {
  const { retention } = scope.file;
  if (retention.media !== undefined) scope.idle.push('retention.media');
  return {
    tasksMs: retention.tasks,
    plansMs: retention.plans,
    stateMs: retention.state,
    channelMessagesMs: retention.channel_messages,
    inboxAuditMs: retention.inbox_audit,
    compactionsMs: retention.compactions,
    pushConfigsMs: retention.push_configs,
  };
}

export function resolveLimits(scope: Scope): LimitSettings {
  const { limits } = scope.file;
  return {
    turnsPerExchange: limits.turns_per_exchange,
    repeatedCalls: limits.repeated_calls,
    ...defined({
      totalTokens: limits.total_tokens,
      workingTimeMs: limits.working_time,
      cost: limits.cost,
    }),
  };
}

/** `[prices]`. A limit of cost needs the price of whatever a task may use. */
export function resolvePrices(scope: Scope, models: readonly string[]): PriceSettings {
  const { prices, limits } = scope.file;
  const missing = models.filter((model) => prices[model] === undefined);
  if (limits.cost !== undefined && missing.length > 0) {
    scope
      .problems('prices')
      .add('limits.cost', `needs the price of every model; [prices] has none for "${missing.join('", "')}"`);
  }
  return Object.fromEntries(
    Object.entries(prices).map(([model, { input, cached = input, output }]) => [
      model,
      { input, cached, output },
    ]),
  );
}

/** Levels by the names of Python's logging, which 0.9 files use, and by our own. */
const LEVELS: ReadonlyMap<string, Settings['o11y']['logLevel']> = new Map([
  ['notset', 'debug'],
  ['trace', 'debug'],
  ['debug', 'debug'],
  ['info', 'info'],
  ['warn', 'warn'],
  ['warning', 'warn'],
  ['error', 'error'],
  ['critical', 'error'],
  ['fatal', 'error'],
]);

export function resolveO11y(scope: Scope): Settings['o11y'] {
  const { log_level: level, service_name: service } = scope.file.o11y;
  const known = LEVELS.get(level.trim().toLowerCase());
  if (known === undefined) scope.warnings.push(`o11y.log_level "${level}" is no level; info is used`);
  for (const key of ['langfuse_public_key', 'langfuse_secret_key'])
    if (scope.secrets[`o11y.${key}`] !== undefined) scope.idle.push(`o11y.${key}`);
  if (service !== undefined) scope.idle.push('o11y.service_name');
  return { logLevel: known ?? 'info', serviceName: service ?? 'tiny-harness' };
}
