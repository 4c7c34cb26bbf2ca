import { z } from 'zod';
import { AnswerError } from './answer-error.ts';

/** A number of tokens, perhaps left out. */
export const count = z.number().nonnegative().nullish();

/** The arguments of a call as text; a few servers send them parsed. */
export const argumentsText = z
  .union([z.string(), z.record(z.string(), z.unknown()).transform((o) => JSON.stringify(o))])
  .nullish();

/** Reads an event of `api`. Throws `AnswerError` when it is none. */
export function readEvent<T>(schema: z.ZodType<T>, event: unknown, api: string): T {
  const parsed = schema.safeParse(event);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new AnswerError(`sent an event that is not of ${api} (at "${where}")`);
}
