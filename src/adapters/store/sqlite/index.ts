/** The store on one SQLite file, the default. The only place that opens `better-sqlite3` for it. */
export { SqliteStore } from './sqlite-store.ts';
export { StoreInspector } from './store-inspector.ts';
