import { HarnessError, type Logger, type PassFailpoint } from '../../core/base/index.ts';
import type {
  AdmissionOutcome,
  AdmissionPort,
  Delivery,
  DeliveryPort,
  InboundRequest,
  NewTaskDefaults,
} from '../../core/channels/index.ts';
import type { HookChain, OperationScope } from '../../core/hooks/index.ts';
import { createState, isTerminal, type MailItem, type TaskData } from '../../core/loop/index.ts';
import type { InboxRow, Journal, NewEntry, NewTask, TaskRow } from '../../core/persistence/index.ts';
import { mayDo, memberOf } from '../../core/security/index.ts';
import { derivedContextId, derivedTaskId, inboxKey, randomTaskId } from './ids.ts';
import { newTaskData } from './new-task.ts';
import { reconcile } from './reconcile.ts';

/** How long a message waits for a commit that is under way when it comes. */
const CLOSING_DEADLINE_MS = 20_000;

/** How many left-over messages are delivered at the same time. */
const REDELIVERIES_AT_ONCE = 4;

export interface AdmissionDeps {
  readonly journal: Journal;
  readonly delivery: DeliveryPort;
  readonly hooks: HookChain;
  readonly defaults: NewTaskDefaults;
  readonly delegators: readonly string[];
  /** False: every first message opens a task of its own, whatever its id (`server.idempotency`). */
  readonly idempotency: boolean;
  readonly failpoint: PassFailpoint;
  readonly logger: Logger;
}

type OnStored = (task: TaskRow) => void;

/**
 * Takes a message in: looked up first, stored before it is acknowledged, then handed to the task's loop. The caller has
 * parsed it and knows who sent it; whether they may see the task is decided here.
 */
export class Admission implements AdmissionPort {
  readonly #deps: AdmissionDeps;
  /** Messages on their way into the store, by key. */
  readonly #arriving = new Map<string, Promise<void>>();

  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
  }

  async admit(request: InboundRequest, stored: OnStored = () => {}): Promise<AdmissionOutcome> {
    const key = this.#keyOf(request);
    // The same message twice at once: the second waits, so that hooks run for one of them (AS-10).
    for (let other = this.#arriving.get(key); other; other = this.#arriving.get(key)) await other;
    const { promise: arrival, resolve } = Promise.withResolvers<void>();
    this.#arriving.set(key, arrival);
    const arrived = () => {
      if (this.#arriving.get(key) === arrival) this.#arriving.delete(key);
      resolve();
    };
    const onStored: OnStored = (task) => {
      arrived();
      stored(task);
    };
    try {
      const [known] = await this.#deps.journal.store.inboxRows([key]);
      if (known) return await this.#again(request, known, onStored);
      return request.taskId === undefined
        ? await this.#first(request, key, onStored)
        : await this.#later(request, request.taskId, key, onStored);
    } finally {
      arrived();
    }
  }

  /** Delivers every stored message that no loop has consumed: what a crash between storing and delivering left. */
  async redeliver(signal: AbortSignal): Promise<number> {
    const rows = [...(await this.#deps.journal.store.unconsumed(1000))];
    let delivered = 0;
    const deliverNext = async (): Promise<void> => {
      for (let row = rows.shift(); row && !signal.aborted; row = rows.shift()) {
        try {
          await this.#deliver(await this.#task(row.taskId), row.mail, signal);
          delivered += 1;
        } catch (error) {
          this.#deps.logger.warn('a stored message could not be delivered', { task: row.taskId, error });
        }
      }
    };
    await Promise.all(Array.from({ length: REDELIVERIES_AT_ONCE }, deliverNext));
    return delivered;
  }

  #keyOf(request: InboundRequest): string {
    const unique = request.taskId === undefined && !this.#deps.idempotency ? `${randomTaskId()}:` : '';
    return inboxKey(request.sender, `${unique}${request.messageId}`);
  }

  async #first(request: InboundRequest, key: string, stored: OnStored): Promise<AdmissionOutcome> {
    const { journal, defaults, hooks } = this.#deps;
    if (request.control !== undefined) {
      throw new HarnessError('input.unsupported', 'a control envelope needs a task; name it in taskId');
    }
    if (request.channel !== undefined) {
      throw invalid(
        'message.parts',
        'a channel part needs a task; the channel of a new task does not exist yet',
      );
    }
    if (request.text.trim() === '' && request.brief === undefined) {
      throw invalid('message.parts', 'a first message needs text or a task envelope');
    }
    await this.#received(request);
    const id = this.#deps.idempotency
      ? derivedTaskId(defaults.agentId, request.sender, request.messageId)
      : randomTaskId();
    const task: NewTask = {
      id,
      contextId: request.contextId ?? derivedContextId(id),
      reporter: request.sender,
      data: newTaskData(request, defaults.agentId, this.#deps.delegators),
    };
    const scope = this.#scope(task.id, task.contextId, task.data.participants);
    const created = { name: task.data.name, goal: task.data.goal, reporter: task.reporter };
    const decided = await hooks.inPhase(
      await hooks.phase('pre', { operation: 'task.created', scope, input: created }),
      () => ({ created: true }),
    );
    const entries: NewEntry[] = [
      {
        key: 'submitted',
        exchange: 0,
        body: { kind: 'state', state: 'SUBMITTED', subState: null, text: null, questions: [] },
      },
      { key: `message:${key}`, exchange: 1, body: { kind: 'message', inbox: key } },
    ];
    const admitted = await journal.admit({ inbox: rowOf(request, id, key, task.data), task, entries });
    if (!admitted.created) return this.#again(request, admitted.row, stored);
    this.#deps.failpoint('admission.stored');
    const row = await this.#task(id);
    stored(row);
    await hooks.phase('post', decided).catch((error: unknown) => {
      this.#deps.logger.error('a hook of task.created.post failed; the task goes on', { task: id, error });
    });
    return this.#deliver(row, admitted.row.mail);
  }

  async #later(
    request: InboundRequest,
    taskId: string,
    key: string,
    stored: OnStored,
  ): Promise<AdmissionOutcome> {
    const task = await this.#readable(taskId, request.sender);
    assertFits(request, task);
    const role = memberOf(task.data, request.sender)?.role;
    if (request.control === 'complete' && (role === undefined || !mayDo(role, 'complete'))) {
      throw new HarnessError('input.unsupported', `a ${role} may not complete task ${taskId}`);
    }
    if (request.brief !== undefined) {
      throw new HarnessError(
        'input.unsupported',
        `task ${taskId} exists; its data cannot be changed by an envelope`,
      );
    }
    if (request.text.trim() === '' && request.control === undefined) {
      throw invalid('message.parts', 'there is no text in this message');
    }
    await this.#received(request);
    if (request.control === undefined && (role === undefined || !mayDo(role, 'write'))) {
      return this.#refuse(task, request, `a ${role} may read this task but not write to it`);
    }
    // Before it is stored: no redelivery may take to the loop what is refused whatever the loop says.
    if (request.channel && request.channel.channelId !== taskId) {
      return this.#refuse(task, request, 'you are not on that channel');
    }
    const admitted = await this.#deps.journal.admit({ inbox: rowOf(request, taskId, key, task.data) });
    if (!admitted.created) return this.#again(request, admitted.row, stored);
    this.#deps.failpoint('admission.stored');
    stored(task);
    return this.#deliver(task, admitted.row.mail);
  }

  /** The same message again: the first receipt, no second effect (AS-10). */
  async #again(request: InboundRequest, row: InboxRow, stored: OnStored): Promise<AdmissionOutcome> {
    if (
      row.bodyHash !== request.bodyHash ||
      (request.taskId !== undefined && request.taskId !== row.taskId)
    ) {
      throw new HarnessError(
        'input.message_id_reused',
        `message id "${request.messageId}" was used with another body; give every message its own id`,
      );
    }
    const task = await this.#readable(row.taskId, request.sender);
    stored(task);
    if (!row.consumed && !isTerminal(task.state)) {
      return { ...(await this.#deliver(task, row.mail)), duplicate: true };
    }
    return { ...(await this.#settled(task, row.key)), duplicate: true };
  }

  /** What became of a message that nobody will take to a loop any more. */
  async #settled(task: TaskRow, key: string): Promise<AdmissionOutcome> {
    const { store } = this.#deps.journal;
    const reason = (await store.effects(task.id, [refusalKey(key)])).get(refusalKey(key));
    if (typeof reason === 'string') return { kind: 'refused', task, exchange: 0, duplicate: false, reason };
    const entry = (await store.log(task.id, { kinds: ['message'] })).find(
      ({ body }) => body.kind === 'message' && body.inbox === key,
    );
    // It came too late to be worked on.
    if (entry === undefined) throw ended(task);
    return { kind: 'accepted', task, exchange: entry.exchange, duplicate: false };
  }

  /** Hands the message to the loop; while a commit is under way, waits for it (invariant 4). */
  async #deliver(task: TaskRow, item: MailItem, signal?: AbortSignal): Promise<AdmissionOutcome> {
    const deadline = Date.now() + CLOSING_DEADLINE_MS;
    for (;;) {
      signal?.throwIfAborted();
      const current = await this.#task(task.id);
      // Another process may have taken it to the loop, which worked on it and ended since.
      if (isTerminal(current.state)) return this.#settled(current, item.key);
      const delivery = await this.#handOver(current, item);
      if (delivery.kind === 'receipt') {
        this.#deps.failpoint('admission.delivered');
        const { receipt } = delivery;
        if (!receipt.accepted) {
          return this.#refuse(task, item, receipt.refusal ?? 'the message was not accepted', item.key);
        }
        return { kind: 'accepted', task, exchange: receipt.exchange, duplicate: false };
      }
      const found = await this.#task(task.id);
      const after = delivery.kind === 'ended' ? await reconcile(this.#deps, found) : found;
      if (isTerminal(after.state)) return this.#settled(after, item.key);
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
    const { participants, lifecycle } = task.data;
    const state = createState({
      ...defaults,
      taskId: task.id,
      contextId: task.contextId,
      lifecycle,
      conversation: first.conversation ?? defaults.conversation,
      participants: participants.map(({ id, kind, role }) => ({ id, kind, role })),
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
  async #refuse(
    task: TaskRow,
    { sender, messageId }: Pick<MailItem, 'sender' | 'messageId'>,
    reason: string,
    key?: string,
  ): Promise<AdmissionOutcome> {
    const { journal } = this.#deps;
    await journal.store.recordRefusal({ taskId: task.id, sender, messageId, reason });
    if (key !== undefined) {
      await journal.write(task.id, { effects: [{ key: refusalKey(key), body: reason }], consumed: [key] });
    }
    return { kind: 'refused', task, exchange: 0, duplicate: false, reason };
  }

  async #received(request: InboundRequest): Promise<void> {
    const { sender, messageId, text, taskId } = request;
    const input = { sender, messageId, text, ...(taskId === undefined ? {} : { taskId }) };
    const scope: OperationScope = {
      agentId: this.#deps.defaults.agentId,
      participants: [],
      correlationId: `${sender}:${messageId}`,
      attempt: 1,
    };
    await this.#deps.hooks.run('request.received', scope, input, { body: () => ({ accepted: true }) });
  }

  /** The task, for a caller who may read it; anything else is the same answer as no such task (PC-10). */
  async #readable(taskId: string, caller: string): Promise<TaskRow> {
    const task = await this.#deps.journal.store.task(taskId);
    const member = task && memberOf(task.data, caller);
    if (task === undefined || member === undefined || !mayDo(member.role, 'read')) {
      throw new HarnessError('task.not_found', `there is no task ${taskId}`);
    }
    return task;
  }

  async #task(taskId: string): Promise<TaskRow> {
    const task = await this.#deps.journal.store.task(taskId);
    if (task === undefined) throw new HarnessError('task.not_found', `there is no task ${taskId}`);
    return task;
  }

  #scope(taskId: string, contextId: string, participants: TaskData['participants']): OperationScope {
    const { agentId } = this.#deps.defaults;
    return { agentId, taskId, contextId, participants, correlationId: `${taskId}:1`, attempt: 1 };
  }
}

function assertFits(request: InboundRequest, task: TaskRow): void {
  if (request.contextId !== undefined && request.contextId !== task.contextId) {
    throw invalid('message.contextId', `task ${task.id} is in another context`);
  }
  if (isTerminal(task.state)) throw ended(task);
}

/** Where a refusal's reason is kept, so that the same message again gets the same answer. */
function refusalKey(inbox: string): string {
  return `refused:${inbox}`;
}

function invalid(field: string, problem: string): HarnessError {
  return new HarnessError('input.invalid', `${field}: ${problem}`, { details: { field } });
}

function ended(task: TaskRow): HarnessError {
  return new HarnessError('task.ended', `task ${task.id} is ${task.state} and accepts nothing more`);
}

function rowOf(
  request: InboundRequest,
  taskId: string,
  key: string,
  data: TaskData,
): Omit<InboxRow, 'receivedAt' | 'consumed'> {
  const { sender, messageId, bodyHash, message } = request;
  // PC-1: the task's data says what somebody is; a message cannot turn an agent into a human.
  const senderKind = memberOf(data, sender)?.kind ?? request.senderKind;
  return { key, taskId, sender, senderKind, messageId, bodyHash, message, mail: mailOf(request, key) };
}

function mailOf(request: InboundRequest, key: string): MailItem {
  const { sender, messageId, control, conversation, interrupt, channel } = request;
  return {
    key,
    messageId,
    sender,
    ...(interrupt ? { interrupt } : {}),
    ...(control === undefined ? {} : { control }),
    ...(conversation === undefined ? {} : { conversation }),
    ...(channel?.inReplyTo === undefined ? {} : { inReplyTo: channel.inReplyTo }),
  };
}
