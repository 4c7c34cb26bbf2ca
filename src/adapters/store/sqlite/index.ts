/** The store on one SQLite file, the default. The only place that opens `better-sqlite3`. */
export { SqliteStore } from './sqlite-store.ts';
