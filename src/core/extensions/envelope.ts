import { z } from 'zod';
import { taskBrief, taskUpdate } from './task-data.ts';

/**
 * An envelope (`M.event+json`): what a client says to the harness itself, beside or instead of text. Closed shape;
 * updates of an existing task (`status_update`, `artifact_update`) are told apart so that refusing them can name them.
 */
export const envelope = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('task'), payload: taskBrief }),
  z.strictObject({ kind: z.literal('control'), action: z.literal('complete') }),
]);

export type Envelope = z.infer<typeof envelope>;

/** An envelope on a task that exists. */
export const laterEnvelope = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('task'), payload: taskUpdate }),
  z.strictObject({ kind: z.literal('control'), action: z.literal('complete') }),
]);

export type LaterEnvelope = z.infer<typeof laterEnvelope>;
