import { z } from 'zod';
import { duration, httpUrl, int, nonBlank, oneOf, parseUrl, path, strictInt, text, texts } from './values.ts';

/** `[model]`. */
export const modelSchema = z.strictObject({ provider: oneOf('openai', 'anthropic').optional() });

const choice = {
  models: texts()
    .refine((models) => models.length > 0, 'must not be empty')
    .optional(),
  reasoning_effort: oneOf('low', 'medium', 'high').optional(),
};

const call = {
  timeout: duration(1).default(60_000),
  max_output_tokens: int({ min: 1 }).default(2000),
  context_window_tokens: strictInt().optional(),
};

/** `[openai]`. */
export const openAiSchema = z.strictObject({
  api_key: text().optional(),
  base_url: httpUrl()
    .refine((value) => {
      const url = parseUrl(value);
      return url === undefined || (url.username === '' && url.password === '');
    }, 'must not hold a user or a password')
    .optional(),
  api: oneOf('responses', 'chat_completions').optional(),
  model: nonBlank().default('gpt-6.1-sol'),
  ...choice,
  ...call,
  idle_timeout: duration(1).optional(),
  input_modalities: z
    .array(oneOf('text', 'image', 'audio'), 'must be a list of "text", "image" and "audio"')
    .refine((kinds) => kinds.includes('text'), 'must contain "text"')
    .optional(),
  audio_tokens_per_second: strictInt().optional(),
});

/** `[anthropic]`. */
export const anthropicSchema = z.strictObject({
  api_key: text().optional(),
  model: nonBlank(),
  ...choice,
  ...call,
});

/** `[media]`: its presence turns images and audio on. */
export const mediaSchema = z
  .strictObject({
    max_file_bytes: strictInt().default(20_971_520),
    max_message_bytes: strictInt().default(26_214_400),
    max_image_pixels: strictInt().default(40_000_000),
    max_audio_seconds: strictInt().default(120),
    max_request_media_bytes: strictInt().default(20_971_520),
    dir: text().optional(),
    speech_drain: duration(1).default(120_000),
  })
  .refine((media) => media.max_file_bytes <= media.max_message_bytes, {
    path: ['max_file_bytes'],
    message: 'must not exceed media.max_message_bytes',
  });

const provider = oneOf('openai').default('openai');

export const speechToTextSchema = z.strictObject({
  provider,
  model: nonBlank().default('gpt-4o-mini-transcribe'),
});

export const textToSpeechSchema = z.strictObject({
  provider,
  model: nonBlank().default('gpt-4o-mini-tts'),
  voice: nonBlank().default('coral'),
  instructions: text().default(''),
});

export const imageGenerationSchema = z.strictObject({
  provider,
  model: nonBlank().default('gpt-image-2'),
  size: oneOf('1024x1024', '1536x1024', '1024x1536').default('1024x1024'),
});

export const mcpConfigSchema = path();
