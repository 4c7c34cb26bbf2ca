import { join } from 'node:path';
import Database from 'better-sqlite3';

/** What a query finds in the store that a harness works on, read beside it. */
export function rowsOf<Row>(folder: string, query: string, ...values: readonly unknown[]): Row[] {
  const database = new Database(join(folder, 'store.db'), { readonly: true });
  try {
    return database.prepare(query).all(...values) as Row[];
  } finally {
    database.close();
  }
}
