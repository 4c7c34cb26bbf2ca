import { HarnessError, type PassFailpoint } from '../../core/base/index.ts';
import {
  type AdmissionOutcome,
  type Delivery,
  type DeliveryPort,
  type NewTaskDefaults,
  reconcile,
} from '../../core/channels/index.ts';
import { createState, isTerminal, type MailItem, type Participant } from '../../core/loop/index.ts';
import type { Journal, LogEntry, TaskRow } from '../../core/persistence/index.ts';
import { mayDo, memberOf } from '../../core/security/index.ts';

/** How long a message waits for a commit that is under way when it comes. */
const CLOSING_DEADLINE_MS = 20_000;

export interface HandoverDeps {
  readonly journal: Journal;
  readonly delivery: DeliveryPort;
  readonly defaults: NewTaskDefaults;
  readonly failpoint: PassFailpoint;
}

/** Takes a stored message to its task's loop, and says what became of it. */
export class Handover {
  readonly #deps: HandoverDeps;

  constructor(deps: HandoverDeps) {
    this.#deps = deps;
  }

  /** What became of a message that nobody will take to a loop any more. */
  async settled(task: TaskRow, key: string): Promise<AdmissionOutcome> {
    const { store } = this.#deps.journal;
    const reason = (await store.effects(task.id, [refusalKey(key)])).get(refusalKey(key));
    if (typeof reason === 'string') {
      return { kind: 'refused', task, key, exchange: 0, duplicate: false, reason };
    }
    const known = await store.log(task.id, { kinds: ['message', 'command', 'task_data'] });
    // One that changed the task besides being read is over when its exchange is.
    const entry = known.find((each) => isFrom(each, key)) ?? known.find((each) => each.key === `data:${key}`);
    // It came too late to be worked on.
    if (entry === undefined) throw ended(task);
    const kinds = { message: 'accepted', command: 'command', task_data: 'applied' } as const;
    const kind = kinds[entry.body.kind as keyof typeof kinds];
    return { kind, task, key, exchange: entry.exchange, duplicate: false };
  }

  /** Hands the message to the loop; while a commit is under way, waits for it (invariant 4). */
  async deliver(task: TaskRow, item: MailItem, signal?: AbortSignal): Promise<AdmissionOutcome> {
    const deadline = Date.now() + CLOSING_DEADLINE_MS;
    for (;;) {
      signal?.throwIfAborted();
      const current = await this.task(task.id);
      // Another process may have taken it to the loop, which worked on it and ended since.
      if (isTerminal(current.state)) return this.settled(current, item.key);
      const member = memberOf(current.data, item.sender);
      // What its sender is may have changed since it was stored.
      if (member === undefined) {
        return this.refuse(task, item, item.key, 'you are not on this task any more', true);
      }
      if (!maySend(current, item, member)) {
        return this.refuse(
          task,
          item,
          item.key,
          `a ${member.role} may not write to this task any more`,
          true,
        );
      }
      const delivery = await this.#handOver(current, { ...item, role: member.role, kind: member.kind });
      if (delivery.kind === 'receipt') {
        this.#deps.failpoint('admission.delivered');
        const { receipt } = delivery;
        if (!receipt.accepted) {
          return this.refuse(task, item, item.key, receipt.refusal ?? 'the message was not accepted', true);
        }
        const kind = item.command === undefined ? 'accepted' : 'command';
        return { kind, task, key: item.key, exchange: receipt.exchange, duplicate: false };
      }
      const found = await this.task(task.id);
      const after = delivery.kind === 'ended' ? await reconcile(this.#deps, found) : found;
      if (isTerminal(after.state)) return this.settled(after, item.key);
      if (Date.now() > deadline) {
        throw delivery.kind === 'ended'
          ? new HarnessError('temporal_unavailable', `Temporal has no running workflow for task ${task.id}`)
          : new HarnessError(
              'worker_unavailable',
              `task ${task.id} did not finish its commit; send the message again`,
            );
      }
      await this.#nextState(task.id, after.log);
    }
  }

  async #handOver(task: TaskRow, item: MailItem): Promise<Delivery> {
    const { delivery, defaults } = this.#deps;
    if (task.state !== 'SUBMITTED') return delivery.deliver(task.id, item);
    // Whoever comes first, a task starts with its own first message.
    const first = await this.#firstMail(task);
    const { participants, lifecycle, parentTasks } = task.data;
    const ownSubtask = task.reporter === defaults.agentId;
    const worksItself = participants.some(({ id, role }) => id === defaults.agentId && role === 'assignee');
    const state = createState({
      ...defaults,
      taskId: task.id,
      contextId: task.contextId,
      lifecycle,
      conversation: first.conversation ?? defaults.conversation,
      // Only this harness opens tasks that others work on (PC-6), and links that it made are to be trusted.
      worker: ownSubtask && !worksItself ? 'participant' : 'agent',
      parent: (ownSubtask && parentTasks.find(({ agent }) => agent === null)?.taskId) || null,
      first,
      logCursor: task.log,
    });
    return delivery.start(state, item);
  }

  async #firstMail(task: TaskRow): Promise<MailItem> {
    const { store } = this.#deps.journal;
    const entry = (await store.log(task.id, { upTo: 2, kinds: ['message'] })).find(
      ({ body }) => body.kind === 'message',
    );
    const [row] = entry?.body.kind === 'message' ? await store.inboxRows([entry.body.inbox]) : [];
    if (row === undefined)
      throw new HarnessError('internal', `task ${task.id} has no first message in the store`);
    return row.mail;
  }

  /** Waits, a moment at most, for the task's next state change. */
  async #nextState(taskId: string, after: number): Promise<void> {
    for await (const event of this.#deps.journal.follow(taskId, after, AbortSignal.timeout(250))) {
      if (event.kind === 'entry' && event.entry.body.kind === 'state') return;
    }
  }

  /** PC-3: recorded, shown to its sender alone, and no loop wakes. */
  async refuse(
    task: TaskRow,
    { sender, messageId }: Pick<MailItem, 'sender' | 'messageId'>,
    key: string,
    reason: string,
    stored = false,
  ): Promise<AdmissionOutcome> {
    const { journal } = this.#deps;
    await journal.store.recordRefusal({ taskId: task.id, sender, messageId, reason });
    if (stored) {
      await journal.write(task.id, { effects: [{ key: refusalKey(key), body: reason }], consumed: [key] });
    }
    return { kind: 'refused', task, key, exchange: 0, duplicate: false, reason };
  }

  /** A task that has to be there. @throws HarnessError `task.not_found`. */
  async task(taskId: string): Promise<TaskRow> {
    const task = await this.#deps.journal.store.task(taskId);
    if (task === undefined) throw new HarnessError('task.not_found', `there is no task ${taskId}`);
    return task;
  }
}

/** PC-10. Who opens a task is whatever its brief says, a watcher even; a command is looked at where it runs. */
function maySend({ state }: TaskRow, { command, control }: MailItem, { role }: Participant): boolean {
  return state === 'SUBMITTED' || command !== undefined || mayDo(role, control ?? 'write');
}

/** Where a refusal's reason is kept, so that the same message again gets the same answer. */
function refusalKey(inbox: string): string {
  return `refused:${inbox}`;
}

/** True for the entry that a message left: its own, or its command's answer. */
function isFrom({ body }: LogEntry, key: string): boolean {
  return (body.kind === 'message' || body.kind === 'command') && body.inbox === key;
}

/** What a message gets whose task accepts nothing more (TK-3). */
export function ended(task: TaskRow): HarnessError {
  return new HarnessError('task.ended', `task ${task.id} is ${task.state} and accepts nothing more`);
}
