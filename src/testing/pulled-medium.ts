import { randomUUID } from 'node:crypto';
import type { ChannelMedium, OutboundMessage, ReceivedMessage } from '../core/channels/index.ts';
import type { Participant } from '../core/loop/index.ts';
import type { TaskRow } from '../core/persistence/index.ts';

/** A message as the medium was given it; once more for each time it was given. */
export interface SentMessage extends OutboundMessage {
  readonly taskId: string;
}

/** What a participant says over the medium. */
export interface PulledReply {
  readonly sender: string;
  /** A task, or the message that is answered: then its task. */
  readonly to: string | SentMessage;
  readonly text: string;
  /** Id of the question it answers; without it the harness decides. */
  readonly inReplyTo?: string;
  /** Default: one of its own. */
  readonly id?: string;
}

export interface PulledMediumOptions {
  /** Default `pulled`. */
  readonly name?: string;
  /** Ids of those it reaches. Default: every person. */
  readonly reaches?: readonly string[];
}

/**
 * A medium in memory that is pulled, as a mailbox is. What the agent says lands in the outbox of each participant it is
 * for; what a participant replies is handed to the harness with every pull until it is acknowledged: at least once.
 */
export class PulledMedium implements ChannelMedium {
  readonly name: string;
  readonly #reaches: readonly string[] | undefined;
  readonly #sent: SentMessage[] = [];
  readonly #inbox = new Map<string, ReceivedMessage>();
  readonly #watching = new Set<() => void>();
  #pulls = 0;

  constructor(options: PulledMediumOptions = {}) {
    this.name = options.name ?? 'pulled';
    this.#reaches = options.reaches;
  }

  reaches({ id, kind }: Participant): boolean {
    return this.#reaches?.includes(id) ?? kind === 'human';
  }

  async send(message: OutboundMessage, task: TaskRow): Promise<void> {
    this.#sent.push({ ...message, taskId: task.id });
    this.#changed();
  }

  async receive(): Promise<readonly ReceivedMessage[]> {
    this.#pulls += 1;
    this.#changed();
    return [...this.#inbox.values()];
  }

  async acknowledge({ id }: ReceivedMessage): Promise<void> {
    this.#inbox.delete(id);
    this.#changed();
  }

  /** How often the harness has pulled. */
  get pulls(): number {
    return this.#pulls;
  }

  /** What was sent to a participant, oldest first. */
  outbox(participantId: string): readonly SentMessage[] {
    return this.#sent.filter(({ to }) => to.includes(participantId));
  }

  /** Messages that the harness has not acknowledged, oldest first. */
  get waiting(): readonly ReceivedMessage[] {
    return [...this.#inbox.values()];
  }

  /** Puts a message in; the next pull has it. The same id again is the same message. */
  reply({ sender, to, text, inReplyTo, id = randomUUID() }: PulledReply): ReceivedMessage {
    const message: ReceivedMessage = {
      id,
      sender,
      taskId: typeof to === 'string' ? to : to.taskId,
      text,
      ...(inReplyTo === undefined ? {} : { inReplyTo }),
    };
    this.#inbox.set(id, message);
    return message;
  }

  /** The first message to a participant that fits, once it is there. */
  sentTo(participantId: string, fits: (message: SentMessage) => boolean = () => true): Promise<SentMessage> {
    return this.#until(() => this.outbox(participantId).find(fits));
  }

  /** Resolves once the harness has acknowledged a message. */
  async acknowledged({ id }: ReceivedMessage): Promise<void> {
    await this.#until(() => !this.#inbox.has(id) || undefined);
  }

  /** Resolves after `count` more pulls have begun: what was there before the last of them began has been seen. */
  async pulledAgain(count = 2): Promise<void> {
    const enough = this.#pulls + count;
    await this.#until(() => this.#pulls >= enough || undefined);
  }

  #changed(): void {
    for (const look of this.#watching) look();
  }

  /** Waits for what `find` looks for. */
  #until<T>(find: () => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const look = () => {
        const found = find();
        if (found === undefined) return;
        this.#watching.delete(look);
        resolve(found);
      };
      this.#watching.add(look);
      look();
    });
  }
}
