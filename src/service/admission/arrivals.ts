import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../core/base/index.ts';
import type { HookChain, HookPoint } from '../../core/hooks/index.ts';
import type { InboxRow, TaskStore } from '../../core/persistence/index.ts';

/** How long a server has a message for itself while hooks look at it; what a killed one had is free after this. */
const CLAIM_MS = 10_000;

/** How often a message that another server has is looked for. */
const POLL_MS = 25;

/** Hooks of a message that comes in: where none listens there is nothing to keep from running twice. */
const HOOKED: readonly HookPoint[] = [
  'request.received.pre',
  'request.received.in',
  'request.received.post',
  'task.created.pre',
  'task.created.in',
  'task.created.post',
];

/**
 * Messages on their way into the store. Of one that comes many times at once, here or on other servers of the store, one
 * is worked on, so that hooks run for one (AS-10); the others wait until it is stored and find its row. When it is not
 * stored, or its server dies, the next has its turn.
 */
export class Arrivals {
  readonly #store: TaskStore;
  readonly #hooks: HookChain;
  readonly #logger: Logger;
  /** Those of this process, by key. */
  readonly #here = new Map<string, Promise<void>>();

  constructor(store: TaskStore, hooks: HookChain, logger: Logger) {
    this.#store = store;
    this.#hooks = hooks;
    this.#logger = logger;
  }

  /** Runs `work` with the message's row, if there is one; `stored` is to be called as soon as there is. */
  async once<T>(
    key: string,
    work: (known: InboxRow | undefined, stored: () => void) => Promise<T>,
  ): Promise<T> {
    for (let other = this.#here.get(key); other; other = this.#here.get(key)) await other;
    const { promise: arrival, resolve } = Promise.withResolvers<void>();
    this.#here.set(key, arrival);
    const arrived = () => {
      if (this.#here.get(key) === arrival) this.#here.delete(key);
      resolve();
    };
    let claimed = false;
    try {
      const found = await this.#rowOrClaim(key);
      claimed = found === 'claimed';
      return await work(typeof found === 'string' ? undefined : found, () => {
        // The row has ended the claim.
        claimed = false;
        arrived();
      });
    } finally {
      if (claimed) await this.#release(key);
      arrived();
    }
  }

  async #rowOrClaim(key: string): Promise<InboxRow | 'claimed' | 'free'> {
    for (;;) {
      const [row] = await this.#store.inboxRows([key]);
      if (row !== undefined) return row;
      if (!this.#hooks.listens(...HOOKED)) return 'free';
      if (await this.#store.claim(key, CLAIM_MS)) return 'claimed';
      await sleep(POLL_MS);
    }
  }

  async #release(key: string): Promise<void> {
    await this.#store.release(key).catch((error: unknown) => {
      this.#logger.warn('a message that was not stored is kept from other servers for a moment', { error });
    });
  }
}
