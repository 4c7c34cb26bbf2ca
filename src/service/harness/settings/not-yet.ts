/**
 * What a configuration may say and this version cannot do. Each is refused by name, since ignoring it would change what
 * a user relies on. Building one of these means deleting its row.
 */
interface NotYet {
  /** The dotted key, or the name of an environment variable. */
  readonly key: string;
  readonly sentence: string;
  /** Which values are refused; default: all. */
  readonly when?: (value: unknown) => boolean;
}

export const NOT_YET: readonly NotYet[] = [
  {
    key: 'model.provider',
    when: (provider) => provider === 'anthropic',
    sentence:
      'the provider "anthropic" is not built yet; configure [openai], which also serves OpenAI-compatible endpoints by openai.base_url',
  },
  { key: 'store.postgres_url', sentence: 'PostgreSQL is not built yet; use store.sqlite_path' },
  { key: 'server.grpc_bind', sentence: 'the gRPC binding is not built yet; remove the key' },
  {
    key: 'server.legacy',
    when: (on) => on === true,
    sentence: 'serving A2A 0.3 clients is not built yet; remove the key or set it to false',
  },
  {
    key: 'server.auth',
    sentence: 'authentication is not built yet; let a perimeter authenticate and remove the table',
  },
  {
    key: 'server.trusted_proxies',
    when: isFilled,
    sentence: 'reading X-Forwarded-For is not built yet; remove the key',
  },
  {
    key: 'server.ui',
    when: (on) => on === true,
    sentence: 'the web renderer is not built yet; remove the key or set it to false',
  },
  { key: 'server.ui_dir', sentence: 'the web renderer is not built yet; remove the key' },
  {
    key: 'agents',
    when: isFilled,
    sentence: 'delegating to remote agents is not built yet; remove the tables',
  },
  { key: 'plugins', when: isFilled, sentence: 'plugin folders are not built yet; remove the key' },
  { key: 'media', sentence: 'images and audio are not built yet; remove the table' },
  { key: 'speech_to_text', sentence: 'speech is not built yet; remove the table' },
  { key: 'text_to_speech', sentence: 'speech is not built yet; remove the table' },
  { key: 'image_generation', sentence: 'image generation is not built yet; remove the table' },
  {
    key: 'temporal.encryption_key',
    sentence: 'encryption of Temporal payloads is not built yet; remove the key',
  },
  {
    key: 'TINY_HARNESS_ENCRYPTION_KEY',
    sentence: 'encryption of Temporal payloads is not built yet; unset the variable',
  },
  { key: 'o11y.otlp_endpoint', sentence: 'the export of spans is not built yet; remove the key' },
  { key: 'o11y.trace_file', sentence: 'the export of spans is not built yet; remove the key' },
  { key: 'o11y.langfuse_host', sentence: 'the export to Langfuse is not built yet; remove the key' },
];

/**
 * Keys that are accepted and have no effect so far; a harness whose configuration sets one says so when it starts.
 * Building what a key is for means deleting its row.
 */
export const NO_EFFECT_YET: readonly string[] = [
  'server.cors_origins',
  'server.allowed_hosts',
  'context.turn_budget_tokens',
  'context.compaction_fraction',
  'retention.plans',
  'retention.state',
  'retention.channel_messages',
  'retention.inbox_audit',
  'retention.compactions',
  'retention.push_configs',
];

function isFilled(list: unknown): boolean {
  return !Array.isArray(list) || list.length > 0;
}

/** Why `value` of `key` is refused; undefined when it is not. */
export function notYet(key: string, value: unknown): string | undefined {
  const row = NOT_YET.find((one) => one.key === key);
  return row === undefined || value === undefined || row.when?.(value) === false ? undefined : row.sentence;
}
