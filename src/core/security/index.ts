/** Secrets and what keeps them out of records, logs and the context window. */
export { Secret } from './secret.ts';
