import { z } from 'zod';
import { anyTable, duration, httpUrl, nonBlank, oneOf, text, texts } from './values.ts';

/** `[agent]`. */
export const agentSchema = z.strictObject({
  id: text()
    .refine(
      (id) => /^[a-z0-9][a-z0-9-]{0,62}$/.test(id),
      'must be 1 to 63 of a-z, 0-9 and "-", and not start with "-"',
    )
    .default('tiny-harness'),
  name: nonBlank().optional(),
  description: nonBlank().optional(),
  conversation: oneOf('open', 'single').default('open'),
});

const skillSchema = z.strictObject({
  id: nonBlank(),
  name: nonBlank(),
  description: text().default(''),
  tags: z.array(text(), 'must be a list of texts').default([]),
  examples: z.array(text(), 'must be a list of texts').default([]),
});

/** `[card]`: what other agents read. */
export const cardSchema = z.strictObject({
  name: nonBlank().optional(),
  description: nonBlank().optional(),
  version: nonBlank().default('0.1.0'),
  skills: z
    .array(skillSchema, 'must be a list of tables')
    .refine((skills) => new Set(skills.map((skill) => skill.id)).size === skills.length, 'ids must be unique')
    .default([]),
});

/** `[[agents]]`: the agents this one may delegate to. */
export const remoteAgentSchema = z.strictObject({
  id: nonBlank().refine((id) => id !== 'self', '"self" is reserved'),
  url: httpUrl(),
  version: text().optional(),
  updates: oneOf('auto', 'follow', 'off', 'push').default('auto'),
  follow_interval: duration(1000).default(5000),
  headers: z.record(z.string(), text()).optional(),
  auth: anyTable().optional(),
});

export const pluginsSchema = texts().default([]);
