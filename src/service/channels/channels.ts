import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { choiceOf } from '../../core/approvals/index.ts';
import { HarnessError, type Logger } from '../../core/base/index.ts';
import type {
  AdmissionPort,
  ChannelMedium,
  ChannelSender,
  OutboundMessage,
  ReceivedMessage,
} from '../../core/channels/index.ts';
import type { TaskRow } from '../../core/persistence/index.ts';

/** How often a medium is tried with one message. */
const TRIES = 3;

const PAUSE_MS = 200;

/** How long one try may take. All of them fit into the time that a commit has. */
const TRY_MS = 2000;

/** The media of one agent (PC-2). */
export class Channels implements ChannelSender {
  readonly #media: readonly ChannelMedium[];
  readonly #logger: Logger;

  constructor(media: readonly ChannelMedium[], logger: Logger) {
    this.#media = media;
    this.#logger = logger;
  }

  async deliver(task: TaskRow, message: OutboundMessage): Promise<void> {
    await Promise.all(
      this.#media.map(async (medium) => {
        const reached = task.data.participants.filter(
          (each) => message.to.includes(each.id) && medium.reaches(each),
        );
        const to = reached.map(({ id }) => id);
        if (to.length > 0) await this.#send(medium, task, { ...message, to });
      }),
    );
  }

  /** Takes in what pulled media have received, every `intervalMs`, until the signal aborts. */
  async poll(admission: AdmissionPort, intervalMs: number, signal: AbortSignal): Promise<void> {
    if (!this.#media.some(({ receive }) => receive)) return;
    while (!signal.aborted) {
      for (const medium of this.#media) await this.#pull(medium, admission, signal);
      await sleep(intervalMs, undefined, { signal }).catch(() => {});
    }
  }

  async #send(medium: ChannelMedium, task: TaskRow, message: OutboundMessage): Promise<void> {
    for (let tried = 1; ; tried += 1) {
      try {
        return await inTime((signal) => medium.send(message, task, signal));
      } catch (error) {
        if (tried >= TRIES) {
          const { name } = medium;
          this.#logger.error('a medium did not take a message; it is in the log of its task', {
            task: task.id,
            message: message.id,
            medium: name,
            error,
          });
          return;
        }
        await sleep(PAUSE_MS * tried);
      }
    }
  }

  async #pull(medium: ChannelMedium, admission: AdmissionPort, signal: AbortSignal): Promise<void> {
    try {
      for (const message of (await medium.receive?.()) ?? []) {
        if (signal.aborted) return;
        if (await this.#admitted(medium, message, admission)) await medium.acknowledge?.(message);
      }
    } catch (error) {
      this.#logger.warn('a medium could not be pulled; it is tried again', { medium: medium.name, error });
    }
  }

  /** False when the message has to come again: nobody could take it now. */
  async #admitted(
    medium: ChannelMedium,
    message: ReceivedMessage,
    admission: AdmissionPort,
  ): Promise<boolean> {
    const { id, taskId, sender, text, inReplyTo } = message;
    const choice = choiceOf(text);
    try {
      await admission.admit({
        sender,
        senderKind: 'human',
        messageId: id,
        taskId,
        message: { parts: [{ kind: 'text', text }], extensions: [], referenceTaskIds: [] },
        bodyHash: createHash('sha256')
          .update(JSON.stringify([taskId, text, inReplyTo ?? null]))
          .digest('hex'),
        text,
        interrupt: false,
        ...(inReplyTo === undefined ? {} : { channel: { channelId: taskId, inReplyTo } }),
        ...(choice === undefined ? {} : { verdict: { decision: choice, explicit: false, remember: false } }),
      });
      return true;
    } catch (error) {
      const later = !(error instanceof HarnessError) || error.retryable;
      const { name } = medium;
      this.#logger.warn(`a message of a medium was not taken in${later ? ' and comes again' : ''}`, {
        task: taskId,
        medium: name,
        error,
      });
      return !later;
    }
  }
}

/** Waits for something as long as its signal does not abort, whether or not it hears of that. */
async function inTime(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const signal = AbortSignal.timeout(TRY_MS);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  await Promise.race([work(signal), late]);
}
