import { z } from 'zod';
import type { JsonObject } from '../../core/base/index.ts';
import type { Intrinsic, IntrinsicContext, IntrinsicOutcome } from '../../core/tools/index.ts';

/** An intrinsic whose arguments are described by a zod schema; the JSON schema is made from it once. */
export function defineIntrinsic<S extends z.ZodType>(definition: {
  readonly name: string;
  readonly description: string;
  readonly operation?: NonNullable<Intrinsic['operation']>;
  readonly command?: NonNullable<Intrinsic['command']>;
  readonly readOnly?: boolean;
  readonly input: S;
  apply(args: z.output<S>, context: IntrinsicContext): IntrinsicOutcome | Promise<IntrinsicOutcome>;
}): Intrinsic {
  const { input, apply, readOnly = false, ...rest } = definition;
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: 'input' });
  return {
    ...rest,
    // They change the task and nothing outside it.
    annotations: { readOnlyHint: readOnly, destructiveHint: false, openWorldHint: false },
    inputSchema: inputSchema as unknown as JsonObject,
    apply: (args, context) => apply(input.parse(args), context),
  };
}
