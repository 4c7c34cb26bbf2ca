/** What the supervisor is told, as JSON in its only argument. */
export interface SupervisorJob {
  readonly command: string;
  readonly args: readonly string[];
  /** Where the running server is noted, so that a later start waits for it; undefined when nothing is persisted. */
  readonly ownerFile: string | undefined;
  readonly port: number;
  /** The process that the server belongs to. */
  readonly harnessPid: number;
  /** How long the server may take to stop before it is killed. Milliseconds. */
  readonly graceMs: number;
}

/** What the supervisor says over the channel. It is told one thing: `stop`. */
export type SupervisorMessage =
  | { readonly kind: 'spawned'; readonly pid: number }
  | { readonly kind: 'exited'; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: 'failed'; readonly reason: string };

/** What an owner file holds. */
export interface ServerOwner {
  readonly harnessPid: number;
  readonly serverPid: number;
  readonly port: number;
}
