import { HarnessError } from '../../core/base/index.ts';
import type { TaskStore } from '../../core/persistence/index.ts';

/** Keeps everybody to as many running tasks of their own as they may have (AS-12). */
export class RunningTasks {
  readonly #store: TaskStore;
  readonly #most: number;
  /** Of each caller, those that were let in and that the store does not count yet, in order. */
  readonly #entering = new Map<string, Set<object>>();

  constructor(store: TaskStore, most: number) {
    this.#store = store;
    this.#most = most;
  }

  /**
   * Does what makes one more task of this caller run. `counted` is to be called once the store counts it.
   *
   * @throws HarnessError `input.too_many_tasks`.
   */
  async oneMore<T>(caller: string, work: (counted: () => void) => Promise<T>): Promise<T> {
    const entering = this.#entering.get(caller) ?? new Set();
    const own = {};
    this.#entering.set(caller, entering.add(own));
    const counted = () => {
      entering.delete(own);
      if (entering.size === 0 && this.#entering.get(caller) === entering) this.#entering.delete(caller);
    };
    try {
      const running = await this.#store.running(caller);
      if (running + [...entering].indexOf(own) >= this.#most) {
        throw new HarnessError(
          'input.too_many_tasks',
          `${this.#most} tasks of "${caller}" are running (server.max_running_tasks_per_caller); wait until one is done`,
        );
      }
      return await work(counted);
    } finally {
      counted();
    }
  }
}
