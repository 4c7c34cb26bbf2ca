/**
 * The configuration of one agent: a TOML file, the environment, flags and code become one plain, readonly `Settings`
 * object, or one error with everything that is wrong. Reads files and variables and starts nothing.
 */
export { secretsOf } from './describe.ts';
export { type LoadOptions, loadSettings, parseSettings } from './load.ts';
export { normalizePrefix, publicUrl } from './public-url.ts';
export type { SettingsInput } from './schema/index.ts';
export type { Environment } from './secrets.ts';
export type {
  AnthropicSettings,
  CardSettings,
  EmbeddedSettings,
  EndpointSettings,
  LimitSettings,
  ModelSettings,
  OpenAiSettings,
  RemoteAgentSettings,
  RetentionSettings,
  RetriedActivity,
  RetryPolicySettings,
  RetrySettings,
  ServerSettings,
  Settings,
  TemporalSettings,
  TlsSettings,
} from './types.ts';
