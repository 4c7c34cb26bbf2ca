/** Secrets and what keeps them out of records, logs and the context window. */
export { assertMember, mayDo, memberOf, type TaskAction } from './access.ts';
export { createRedactor, MASK, type Redactor } from './redactor.ts';
export { Secret } from './secret.ts';
export {
  createSecretRegistry,
  type SecretRegistry,
  type SecretSnapshot,
  secretRegistry,
} from './secret-registry.ts';
export type { StreamRedactor } from './stream-redactor.ts';
