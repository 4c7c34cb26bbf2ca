import { createChatCompletionsLlm, createResponsesLlm } from '../../adapters/models/openai/index.ts';
import { ConfigError } from '../../core/base/index.ts';
import type { LlmPort } from '../../core/models/index.ts';
import type { Settings } from './settings/index.ts';

/**
 * The model the configuration names.
 *
 * @throws ConfigError when it names none.
 */
export function createLlm(settings: Settings): LlmPort {
  const openai = settings.model?.openai;
  if (openai === undefined)
    throw new ConfigError(settings.noModel ?? 'no model is configured; add an [openai] section');
  const create = openai.api === 'responses' ? createResponsesLlm : createChatCompletionsLlm;
  return create({
    model: openai.model,
    timeoutMs: openai.timeoutMs,
    maxOutputTokens: openai.maxOutputTokens,
    ...(openai.baseUrl === undefined ? {} : { baseUrl: openai.baseUrl }),
    ...(openai.apiKey === undefined ? {} : { apiKey: openai.apiKey }),
    ...(openai.idleTimeoutMs === undefined ? {} : { idleTimeoutMs: openai.idleTimeoutMs }),
    ...(openai.contextWindowTokens === undefined ? {} : { contextWindow: openai.contextWindowTokens }),
  });
}
