import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../core/base/index.ts';
import { parseSettings, type SettingsInput } from './index.ts';
import { NOT_YET } from './not-yet.ts';
import { fileSchema } from './schema/index.ts';

/** Every key of a 0.9 file, with values that 0.9 takes. */
const ROWS: readonly (readonly [key: string, ...values: unknown[]])[] = [
  ['plugins', [], ['./plugins/a']],
  ['agent.id', 'desk-1'],
  ['card.name', 'Desk'],
  ['card.description', 'Answers mail.'],
  ['card.version', '1.2'],
  [
    'card.skills',
    [],
    [
      { id: 'a', name: 'A' },
      { id: 'b', name: 'B', description: 'd', tags: ['t'], examples: ['e'] },
    ],
  ],
  ['temporal.mode', 'remote', 'embedded'],
  ['temporal.address', 'temporal.example:7233'],
  ['temporal.namespace', 'default'],
  ['temporal.task_queue', 'desk'],
  ['temporal.tls', true, false, 'true', 0],
  ['temporal.search_attributes', true, 'false'],
  ['temporal.embedded', {}],
  ['temporal.embedded.persist', false],
  ['temporal.embedded.database_path', 't.sqlite3'],
  ['temporal.embedded.binary_path', process.execPath],
  ['temporal.embedded.download_dir', 'cache'],
  ['temporal.embedded.port', 7233, '7233'],
  ['openai.base_url', 'http://localhost:11434/v1', 'https://a.example'],
  ['openai.api', 'chat_completions', 'responses'],
  ['openai.model', 'gpt-6.1-sol'],
  ['openai.models', ['gpt-6.1-sol', 'other']],
  ['openai.reasoning_effort', 'low', 'medium', 'high'],
  ['openai.timeout', 60, 0.25, 'PT30S', 'P1DT2H', '00:01:30', '1 day', '7d', '2 days 01:00:00'],
  ['openai.max_output_tokens', 2000, '1000', 1000.0],
  ['openai.context_window_tokens', 128_000],
  ['openai.input_modalities', ['text', 'image', 'text'], ['text']],
  ['openai.audio_tokens_per_second', 10],
  ['anthropic', { model: 'claude-opus-5-5' }],
  ['anthropic.models', ['claude-opus-5-5']],
  ['anthropic.reasoning_effort', 'high'],
  ['agents', [], [{ id: 'b', url: 'https://b.example' }]],
  [
    'agents',
    ...['auto', 'follow', 'off'].map((updates) => [{ id: 'b', url: 'https://b', version: '1', updates }]),
  ],
  ['agents', [{ id: 'b', url: 'https://b.example', follow_interval: 1 }]],
  ['server.bind', '127.0.0.1:8080', '0.0.0.0:80', '[::1]:8080', 'localhost:0'],
  ['server.base_url', 'http://127.0.0.1:8080', 'https://a.example/agents/a'],
  ['server.max_request_bytes', 1_048_576, '1000'],
  ['server.rate_limit_per_minute', 120],
  ['server.bridge_interval', 0.25],
  ['server.cors_origins', ['https://a.example']],
  ['server.delegators', ['boss']],
  ['server.ui_dir', 'ui/dist'],
  ['heartbeat.interval', 'PT30S'],
  ['store.sqlite_path', 'tiny-harness.sqlite3'],
  ['o11y.otlp_endpoint', 'http://localhost:4318/v1/traces'],
  ['o11y.langfuse_host', 'https://cloud.langfuse.com'],
  ['o11y.service_name', 'desk'],
  ['o11y.log_level', 'INFO', 'debug', 'Warning', 'CRITICAL', 'nonsense'],
  ['o11y.trace_file', 'spans.jsonl'],
  ['retries.default', {}],
  ['retries.default.initial_interval', 1],
  ['retries.default.backoff_coefficient', 2.0, '1.5', 2],
  ['retries.default.maximum_interval', 60],
  ['retries.default.maximum_attempts', 5],
  ['retries.default.non_retryable_error_types', ['provider.retryable']],
  ['retries.per_activity.invoke_llm', { maximum_attempts: 1 }],
  ['retries.per_activity.poll_channels', {}],
  ['context.turn_budget_tokens', 12_000],
  ['context.compaction_fraction', 0.75, 1.5],
  ['context.history_event_bound', 10_000],
  ...[
    'tasks',
    'plans',
    'state',
    'channel_messages',
    'inbox_audit',
    'compactions',
    'push_configs',
    'media',
  ].map((kind) => [`retention.${kind}`, '30 days', 'P30D'] as const),
  ['media', {}],
  ...[
    'max_file_bytes',
    'max_message_bytes',
    'max_image_pixels',
    'max_audio_seconds',
    'max_request_media_bytes',
  ].map((key) => [`media.${key}`, 20_971_520] as const),
  ['media.dir', '', 'media'],
  ['media.speech_drain', 120],
  ['speech_to_text', { provider: 'openai', model: 'm' }],
  ['text_to_speech', { provider: 'openai', model: 'm', voice: 'coral', instructions: '' }],
  ['image_generation', {}, { provider: 'openai', model: 'm', size: '1024x1536' }],
];

/** What a key needs beside it to make a valid 0.9 file. */
const BESIDE: Readonly<Record<string, SettingsInput>> = {
  'temporal.mode': { temporal: { address: 'localhost:7233', namespace: 'n' } },
  'temporal.address': { temporal: { namespace: 'n' } },
  'temporal.tls': { temporal: { address: 'localhost:7233', namespace: 'n' } },
  anthropic: { anthropic: { model: 'claude-opus-5-5' } },
};

const cases = ROWS.flatMap(([key, ...values]) => values.map((value) => ({ key, value })));

function fileWith(key: string, value: unknown): SettingsInput {
  const beside = value === 'embedded' ? {} : (BESIDE[key] ?? BESIDE[key.split('.', 1)[0] ?? '']);
  const file = structuredClone({ openai: { base_url: 'http://localhost/v1' }, ...beside }) as Record<
    string,
    unknown
  >;
  const parts = key.split('.');
  const last = parts.pop() ?? '';
  let at = file;
  for (const part of parts) {
    at[part] ??= {};
    at = at[part] as Record<string, unknown>;
  }
  at[last] = value;
  return file;
}

describe('a file of 0.9', () => {
  it.each(cases)('parses with $key = $value', ({ key, value }) => {
    expect(fileSchema.safeParse(fileWith(key, value)).error?.issues).toBeUndefined();
  });

  it.each(cases)(
    'loads with $key = $value, or is refused by that name as not built yet',
    ({ key, value }) => {
      const env = {
        HOME: '/home/user',
        ...(key === 'temporal.address' ? { TEMPORAL_API_KEY: 'any-value' } : {}),
      };
      try {
        expect(parseSettings(fileWith(key, value), env, '/srv').agent.id).toBeDefined();
      } catch (error) {
        const row = NOT_YET.find((one) => key === one.key || key.startsWith(`${one.key}.`));
        expect((error as ConfigError).problems).toEqual([`${row?.key}: ${row?.sentence}`]);
      }
    },
  );

  it('refuses secrets in it, naming the variable, and never repeats them', () => {
    const file = {
      temporal: { address: 'localhost:7233', namespace: 'n', api_key: 'hush-1' },
      openai: { base_url: 'https://a.example', api_key: 'hush-2' },
      anthropic: { model: 'm', api_key: 'hush-3' },
      o11y: { langfuse_public_key: 'hush-4', langfuse_secret_key: 'hush-5' },
    };
    const error = problemsOf(() => parseSettings(file, {}));
    for (const name of [
      'TEMPORAL_API_KEY',
      'OPENAI_API_KEY',
      'ANTHROPIC_API_KEY',
      'LANGFUSE_PUBLIC_KEY',
      'LANGFUSE_SECRET_KEY',
    ])
      expect(error.some((line) => line.includes(name))).toBe(true);
    expect(error).toHaveLength(5);
    expect(error.join()).not.toContain('hush');
  });

  it('names the keys without effect in one line', () => {
    const settings = parseSettings(
      {
        openai: { base_url: 'https://a.example', input_modalities: ['text'], audio_tokens_per_second: 5 },
        anthropic: { model: 'm' },
        server: { bridge_interval: 1 },
        retention: { media: 'P1D' },
        retries: { per_activity: { poll_channels: {}, invoke_tool: { maximum_attempts: 9 } } },
      },
      {},
    );
    expect(settings.notes).toEqual([
      'keys that are accepted and have no effect here: anthropic, openai.input_modalities, openai.audio_tokens_per_second, server.bridge_interval, retries.per_activity.poll_channels, retention.media',
    ]);
    expect(settings.retries.perActivity).toMatchObject({
      toolRun: { maximumAttempts: 9, initialIntervalMs: 1000 },
    });
  });

  it.each([
    ['openai.context_window_tokens', '1000'],
    ['openai.context_window_tokens', 0],
    ['media.max_file_bytes', '1000'],
    ['openai.max_output_tokens', 1.5],
    ['openai.timeout', '30'],
    ['openai.input_modalities', ['image']],
    ['openai.models', ['other']],
    ['temporal.embedded.port', 0],
    ['server.base_url', 'ftp://a'],
    ['server.bind', 'localhost'],
    ['agent.id', 'Desk'],
    [
      'card.skills',
      [
        { id: 'a', name: 'A' },
        { id: 'a', name: 'B' },
      ],
    ],
  ])('refuses %s = %j, naming the key', (key, value) => {
    const lines = problemsOf(() => parseSettings(fileWith(key, value), {}, '/srv'));
    expect(lines.some((line) => line.startsWith(`${key}: `))).toBe(true);
  });
});

function problemsOf(load: () => unknown): readonly string[] {
  try {
    load();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
