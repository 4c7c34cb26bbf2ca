import { type DeliveryPort, reconcile } from '../../core/channels/index.ts';
import { isInterrupted } from '../../core/loop/index.ts';
import type { Journal, JournalEvent } from '../../core/persistence/index.ts';

/** How long a task that works may be silent until it is asked whether its loop still runs. */
const SILENCE_MS = 30_000;

/**
 * Looks after tasks that somebody reads. One whose loop died without a word would be silent for ever: it is ended, and
 * so its readers hear of it. A task is asked about once in a silence, however many read it.
 */
export class LoopWatch {
  readonly #deps: { readonly journal: Journal; readonly delivery: DeliveryPort };
  readonly #silenceMs: number;
  /** Tasks that were asked about a moment ago. */
  readonly #asked = new Set<string>();

  constructor(deps: { readonly journal: Journal; readonly delivery: DeliveryPort }, silenceMs = SILENCE_MS) {
    this.#deps = deps;
    this.#silenceMs = silenceMs;
  }

  /** The events as they come. */
  async *over(
    taskId: string,
    events: AsyncIterable<JournalEvent>,
  ): AsyncGenerator<JournalEvent, void, undefined> {
    const timer = setInterval(() => void this.#ask(taskId), this.#silenceMs);
    timer.unref();
    try {
      for await (const event of events) {
        timer.refresh();
        yield event;
      }
    } finally {
      clearInterval(timer);
    }
  }

  async #ask(taskId: string): Promise<void> {
    if (this.#asked.has(taskId)) return;
    this.#asked.add(taskId);
    setTimeout(() => this.#asked.delete(taskId), this.#silenceMs / 2).unref();
    try {
      const task = await this.#deps.journal.store.task(taskId);
      // One that waits for somebody is silent by right.
      if (task && !isInterrupted(task.state)) await reconcile(this.#deps, task);
    } catch {
      // Store or Temporal is away: asked again after the next silence.
    }
  }
}
