import { z } from 'zod';
import { duration, float, httpUrl, int, nonBlank, path, text, texts } from './values.ts';

/** `[heartbeat]`. */
export const heartbeatSchema = z.strictObject({ interval: duration(1000).default(30_000) });

/** `[o11y]`. */
export const o11ySchema = z.strictObject({
  log_level: text().default('INFO'),
  service_name: nonBlank().optional(),
  otlp_endpoint: httpUrl().optional(),
  langfuse_host: httpUrl().optional(),
  langfuse_public_key: text().optional(),
  langfuse_secret_key: text().optional(),
  trace_file: path().optional(),
});

/** A retry policy; a key that is not given has the built-in value, in every policy. */
const policySchema = z.strictObject({
  initial_interval: duration(1).default(1000),
  backoff_coefficient: float({ min: 1 }).default(2),
  maximum_interval: duration(1).default(60_000),
  maximum_attempts: int({ min: 0 }).default(5),
  non_retryable_error_types: texts().default([]),
});

/** `[retries]`. */
export const retriesSchema = z.strictObject({
  default: policySchema.prefault({}),
  per_activity: z.record(z.string(), policySchema, 'must be a table of policies').default({}),
});

/** `[context]`. */
export const contextSchema = z.strictObject({
  turn_budget_tokens: int({ min: 1 }).default(12_000),
  compaction_fraction: float().default(0.75),
  history_event_bound: int({ min: 1 }).default(2000),
});

const kept = duration().default(30 * 86_400_000);

/** `[retention]`: how long each kind of record is kept. */
export const retentionSchema = z.strictObject({
  tasks: kept,
  plans: kept,
  state: kept,
  channel_messages: kept,
  inbox_audit: kept,
  compactions: kept,
  push_configs: kept,
  media: duration().optional(),
});

/** `[limits]`: what bounds the loop (LP-3). */
export const limitsSchema = z.strictObject({
  turns_per_exchange: int({ min: 1 }).default(50),
  total_tokens: int({ min: 1 }).optional(),
  working_time: duration(1).optional(),
  cost: float({ min: 0 }).optional(),
  repeated_calls: int({ min: 2 }).default(5),
});

/** `[prices]`: what a million tokens of each model cost (LP-3). */
export const pricesSchema = z.record(
  z.string(),
  z.strictObject({
    input: float({ min: 0 }),
    cached: float({ min: 0 }).optional(),
    output: float({ min: 0 }),
  }),
  'must be a table of models',
);
