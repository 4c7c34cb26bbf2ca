import { z } from 'zod';
import { HarnessError } from '../../core/base/index.ts';
import type { Intrinsic } from '../../core/tools/index.ts';
import { defineIntrinsic } from './define.ts';

/** The most characters one call reads. */
const MAX_LENGTH = 16_000;

/** `read_tool_output`: reads on in a result that was too long for the context (TL-4). */
export const readToolOutputIntrinsic: Intrinsic = defineIntrinsic({
  name: 'read_tool_output',
  description: 'Read a part of a tool result that was cut. The marker of the cut names the ref.',
  readOnly: true,
  input: z.strictObject({
    ref: z.string().min(1),
    offset: z.number().int().nonnegative().describe('Characters to skip.'),
    length: z.number().int().positive().max(MAX_LENGTH).describe('Characters to read.'),
  }),
  async apply({ ref, offset, length }, context) {
    const text = await context.readStored(ref);
    if (text === undefined)
      throw new HarnessError('tool.invalid_arguments', `there is no stored output "${ref}"`);
    const end = Math.min(text.length, offset + length);
    return {
      kind: 'result',
      text: `[characters ${offset} to ${end} of ${text.length}]\n${text.slice(offset, end)}`,
    };
  },
});
