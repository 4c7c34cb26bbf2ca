/**
 * What every other room stands on: JSON types, errors with codes, an abort signal, durations. Imports nothing, and
 * nothing in here may know what an agent is.
 */
export { type AbortSignalLike, createAbort } from './abort.ts';
export type { Clock } from './clock.ts';
export { parseDuration } from './duration.ts';
export {
  asHarnessError,
  ConfigError,
  ERROR_CODES,
  type ErrorCode,
  type ErrorOptions,
  HarnessError,
  HookAbort,
  messageOf,
  ProviderError,
  RetryableProviderError,
  StoreWriteError,
} from './errors.ts';
export { assertNever } from './exhaustive.ts';
export { FAILPOINTS, type Failpoint, type PassFailpoint } from './failpoint.ts';
export { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from './json.ts';
export { type LogFields, type Logger, silentLogger } from './logger.ts';
