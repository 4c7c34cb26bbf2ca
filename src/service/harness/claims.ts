import { HarnessConflictError } from './errors.ts';

/** What one harness holds for itself in this process. */
export interface Claim {
  readonly agentId: string;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Absolute path of the store. */
  readonly store: string;
}

const KEY = Symbol.for('tiny-harness.claims');

/** The claims of this process: behind a well-known symbol, so that two copies of the package see one registry. */
function held(): Set<Claim> {
  const scope = globalThis as typeof globalThis & { [KEY]?: Set<Claim> };
  scope[KEY] ??= new Set();
  return scope[KEY];
}

/**
 * Reserves an agent's id, queue and store, all or nothing (MT-8). Covers this process alone.
 *
 * @returns the release.
 * @throws HarnessConflictError naming what clashes and who holds it.
 */
export function claim(wanted: Claim): () => void {
  for (const other of held()) {
    const clash =
      other.agentId === wanted.agentId
        ? `the agent id "${wanted.agentId}"`
        : other.namespace === wanted.namespace && other.taskQueue === wanted.taskQueue
          ? `the task queue "${wanted.taskQueue}" in namespace "${wanted.namespace}"`
          : other.store === wanted.store
            ? `the store ${wanted.store}`
            : undefined;
    if (clash)
      throw new HarnessConflictError(`agent ${wanted.agentId}: ${clash} is held by agent ${other.agentId}`);
  }
  held().add(wanted);
  return () => void held().delete(wanted);
}
