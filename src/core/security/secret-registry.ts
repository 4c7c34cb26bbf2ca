/** The secrets of a process at one moment; `version` changes whenever `values` does. */
export interface SecretSnapshot {
  readonly version: number;
  readonly values: readonly string[];
}

/** Holds the secrets of every agent of a process, so that each redactor masks them all (SE-3). */
export interface SecretRegistry {
  /** Adds the secrets of one owner; the returned function takes them out again (calling it twice does nothing). */
  add(values: Iterable<string>): () => void;
  snapshot(): SecretSnapshot;
}

const KEY = Symbol.for('tiny-harness.secrets');

/**
 * The registry of this process. It lives behind a well-known symbol, so that two copies of this package see one; hence
 * its shape must stay compatible between versions.
 */
export function secretRegistry(): SecretRegistry {
  const scope = globalThis as typeof globalThis & { [KEY]?: SecretRegistry };
  scope[KEY] ??= createSecretRegistry();
  return scope[KEY];
}

/** A registry of its own, for tests; everything else uses `secretRegistry()`. */
export function createSecretRegistry(): SecretRegistry {
  // Per owner: two agents may hold the same secret, and one of them stopping must not unmask it.
  const owners = new Set<readonly string[]>();
  let current: SecretSnapshot = { version: 0, values: [] };
  const changed = (): void => {
    current = { version: current.version + 1, values: [...new Set([...owners].flat())] };
  };
  return {
    add(values) {
      const own = [...values];
      owners.add(own);
      changed();
      return () => {
        if (owners.delete(own)) changed();
      };
    },
    snapshot: () => current,
  };
}
