import type Database from 'better-sqlite3';

/** Kysely prepares a statement for every query; the texts repeat, so they are kept. */
export function withStatementCache(database: Database.Database): {
  close(): void;
  prepare(sql: string): Database.Statement<unknown[]>;
} {
  const statements = new Map<string, Database.Statement<unknown[]>>();
  return {
    close: () => void database.close(),
    prepare(sql) {
      const known = statements.get(sql);
      if (known) return known;
      if (statements.size >= 200) statements.clear();
      const statement = database.prepare<unknown[]>(sql);
      statements.set(sql, statement);
      return statement;
    },
  };
}
