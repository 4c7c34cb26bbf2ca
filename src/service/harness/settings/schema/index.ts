import { z } from 'zod';
import { agentSchema, cardSchema, pluginsSchema, remoteAgentSchema } from './agent.ts';
import { approvalsSchema } from './approvals.ts';
import {
  anthropicSchema,
  imageGenerationSchema,
  mcpConfigSchema,
  mediaSchema,
  modelSchema,
  openAiSchema,
  speechToTextSchema,
  textToSpeechSchema,
} from './model.ts';
import {
  contextSchema,
  heartbeatSchema,
  limitsSchema,
  o11ySchema,
  pricesSchema,
  retentionSchema,
  retriesSchema,
} from './operations.ts';
import { serverSchema, storeSchema } from './server.ts';
import { temporalSchema } from './temporal.ts';

/** The whole file. Sections that are absent are there with their defaults, except those whose presence says something. */
export const fileSchema = z.strictObject({
  agent: agentSchema.prefault({}),
  card: cardSchema.prefault({}),
  temporal: temporalSchema.prefault({}),
  model: modelSchema.prefault({}),
  openai: openAiSchema.optional(),
  anthropic: anthropicSchema.optional(),
  server: serverSchema.prefault({}),
  store: storeSchema.prefault({}),
  mcp_config: mcpConfigSchema.optional(),
  plugins: pluginsSchema,
  agents: z.array(remoteAgentSchema, 'must be a list of tables').default([]),
  heartbeat: heartbeatSchema.prefault({}),
  o11y: o11ySchema.prefault({}),
  retries: retriesSchema.prefault({}),
  context: contextSchema.prefault({}),
  retention: retentionSchema.prefault({}),
  limits: limitsSchema.prefault({}),
  prices: pricesSchema.default({}),
  approvals: approvalsSchema.prefault({}),
  media: mediaSchema.optional(),
  speech_to_text: speechToTextSchema.optional(),
  text_to_speech: textToSpeechSchema.optional(),
  image_generation: imageGenerationSchema.optional(),
});

/** The parsed file: snake_case as written, lenient values coerced, durations in milliseconds. */
export type SettingsFile = z.output<typeof fileSchema>;

/** What may be written, in the file or as an object in code; every section and key is optional. */
export type SettingsInput = z.input<typeof fileSchema>;
