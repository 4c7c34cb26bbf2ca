import type { z } from 'zod';
import { HarnessError } from '../base/index.ts';

/** Where a record is, for the error that it is not what it should be. */
export interface RecordPlace {
  readonly table: string;
  /** Its key; of several columns, all of them. */
  readonly id: readonly (string | number)[];
}

/**
 * A record as it was stored, once its shape is known to be right (SR-2). What the schema does not name stays in it.
 *
 * @throws HarnessError `store.corrupt`, which says nothing of the content.
 */
export function parseRecord<T>(schema: z.ZodType<T>, json: string, place: RecordPlace): T {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw corrupt(place, 'it is not JSON');
  }
  return checkRecord(schema, value, place);
}

/** The same for a value that is not JSON. @throws HarnessError `store.corrupt`. */
export function checkRecord<T>(schema: z.ZodType<T>, value: unknown, place: RecordPlace): T {
  const { error } = schema.safeParse(value);
  if (error === undefined) return value as T;
  const [issue] = error.issues;
  throw corrupt(place, `${issue?.path.map(String).join('.') || 'it'}: ${issue?.message ?? 'wrong'}`);
}

function corrupt({ table, id }: RecordPlace, what: string): HarnessError {
  const key = id.join(' ');
  return new HarnessError(
    'store.corrupt',
    `the record ${key} of the table ${table} is damaged (${what}); put a backup of the store in its place`,
    { details: { table, id: key } },
  );
}
