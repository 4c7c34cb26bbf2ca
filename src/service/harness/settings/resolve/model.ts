import { assertNever } from '../../../../core/base/index.ts';
import { isLoopbackHost } from '../hosts.ts';
import { notYet } from '../not-yet.ts';
import type { SettingsFile } from '../schema/index.ts';
import { anthropicSchema, openAiSchema } from '../schema/model.ts';
import { parseUrl } from '../schema/values.ts';
import { defined } from '../tables.ts';
import type { AnthropicSettings, EndpointSettings, ModelSettings, OpenAiSettings } from '../types.ts';
import type { Scope } from './scope.ts';

const DEFAULT_ANTHROPIC_MODEL = 'claude-opus-5-5';
const NO_MODEL =
  'no model is configured: set OPENAI_API_KEY in the environment, or write an [openai] section with base_url and model';

type Resolved = { readonly model: ModelSettings } | { readonly noModel: string };

/** `[model]`, `[openai]`, `[anthropic]`: which endpoint is used, and that it can be. */
export function resolveModel(scope: Scope): Resolved {
  const { file } = scope;
  const provider = file.model.provider ?? (file.openai ? 'openai' : file.anthropic ? 'anthropic' : undefined);
  if (provider !== 'anthropic' && file.anthropic !== undefined) scope.idle.push('anthropic');
  if (provider === undefined) return fromKeyAlone(scope);
  const refused = notYet('model.provider', provider);
  if (refused !== undefined) scope.problems('model').add('model.provider', refused);
  switch (provider) {
    case 'openai':
      return { model: { provider, openai: resolveOpenAi(scope, file.openai ?? openAiSchema.parse({})) } };
    case 'anthropic':
      return { model: { provider, anthropic: resolveAnthropic(scope) } };
    default:
      return assertNever(provider);
  }
}

/**
 * No section, but perhaps a key in the environment, which stands for a section of defaults. Many machines have such a
 * variable for other programs, so what cannot be used is no error here: it matters only if a model is needed.
 */
function fromKeyAlone(scope: Scope): Resolved {
  if (scope.secrets['openai.api_key'] !== undefined)
    return { model: { provider: 'openai', openai: resolveOpenAi(scope, openAiSchema.parse({})) } };
  if (scope.secrets['anthropic.api_key'] === undefined) return { noModel: NO_MODEL };
  const refused = notYet('model.provider', 'anthropic');
  if (refused !== undefined)
    return { noModel: `no model is configured: ANTHROPIC_API_KEY is set, but ${refused}` };
  return { model: { provider: 'anthropic', anthropic: resolveAnthropic(scope) } };
}

function resolveOpenAi(scope: Scope, section: NonNullable<SettingsFile['openai']>): OpenAiSettings {
  const problems = scope.problems('openai');
  const apiKey = scope.secrets['openai.api_key'];
  const { base_url: baseUrl } = section;
  const api = section.api ?? (baseUrl === undefined ? 'responses' : 'chat_completions');
  if (baseUrl === undefined && apiKey === undefined)
    problems.addMissingSecret(
      'openai.api_key',
      'needed; set OPENAI_API_KEY (or OPENAI_API_KEY_FILE), or openai.base_url of an endpoint that takes none',
    );
  const url = parseUrl(baseUrl ?? '');
  if (apiKey !== undefined && url?.protocol === 'http:' && !isLoopbackHost(url.hostname))
    problems.add(
      'openai.base_url',
      'a key is sent over plain http to this machine only; use https, or unset OPENAI_API_KEY if the endpoint takes none',
    );
  for (const key of ['input_modalities', 'audio_tokens_per_second'] as const)
    if (section[key] !== undefined) scope.idle.push(`openai.${key}`);
  return {
    ...resolveEndpoint(scope, 'openai', section),
    api,
    ...defined({ apiKey, baseUrl, idleTimeoutMs: section.idle_timeout }),
  };
}

function resolveAnthropic(scope: Scope): AnthropicSettings {
  const section = scope.file.anthropic ?? anthropicSchema.parse({ model: DEFAULT_ANTHROPIC_MODEL });
  const apiKey = scope.secrets['anthropic.api_key'];
  if (apiKey === undefined)
    scope
      .problems('anthropic')
      .addMissingSecret('anthropic.api_key', 'needed; set ANTHROPIC_API_KEY (or ANTHROPIC_API_KEY_FILE)');
  return { ...resolveEndpoint(scope, 'anthropic', section), ...defined({ apiKey }) };
}

function resolveEndpoint(
  scope: Scope,
  name: 'openai' | 'anthropic',
  section: NonNullable<SettingsFile['anthropic']>,
): EndpointSettings {
  const models = section.models ?? [section.model];
  if (!models.includes(section.model))
    scope.problems(name).add(`${name}.models`, `must contain ${name}.model, "${section.model}"`);
  return {
    model: section.model,
    models,
    timeoutMs: section.timeout,
    maxOutputTokens: section.max_output_tokens,
    ...defined({
      reasoningEffort: section.reasoning_effort,
      contextWindowTokens: section.context_window_tokens,
    }),
  };
}
