import { HarnessError, HookAbort, type Logger, type PassFailpoint } from '../../core/base/index.ts';
import {
  type AdmissionOutcome,
  type AdmissionPort,
  type DeliveryPort,
  type InboundRequest,
  type NewTaskDefaults,
  reconcile,
  type SubtaskRequest,
} from '../../core/channels/index.ts';
import {
  type Command,
  type CommandNeed,
  type CommandRegistry,
  needOf,
  parseCommand,
} from '../../core/commands/index.ts';
import type { HookChain, OperationScope } from '../../core/hooks/index.ts';
import { isTerminal, type Participant, type TaskData } from '../../core/loop/index.ts';
import type { InboxRow, Journal, NewEntry, NewTask, TaskRow } from '../../core/persistence/index.ts';
import { assertMember, mayDo } from '../../core/security/index.ts';
import { Arrivals } from './arrivals.ts';
import { ended, Handover } from './handover.ts';
import { derivedContextId, derivedTaskId, inboxKey, randomTaskId } from './ids.ts';
import { rowOf } from './inbox-row.ts';
import { newTaskData } from './new-task.ts';
import { RunningTasks } from './running-tasks.ts';
import { changeOf } from './task-update.ts';

/** How many left-over messages are delivered at the same time. */
const REDELIVERIES_AT_ONCE = 4;

export interface AdmissionDeps {
  readonly journal: Journal;
  readonly delivery: DeliveryPort;
  readonly hooks: HookChain;
  readonly defaults: NewTaskDefaults;
  readonly commands: CommandRegistry;
  readonly delegators: readonly string[];
  /** False: every first message opens a task of its own, whatever its id (`server.idempotency`). */
  readonly idempotency: boolean;
  /** How many tasks that somebody opened may run at a time (AS-12). */
  readonly maxRunningTasks: number;
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
  readonly #arrivals: Arrivals;
  readonly #handover: Handover;
  readonly #running: RunningTasks;

  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
    const { store } = deps.journal;
    this.#arrivals = new Arrivals(store, deps.hooks, deps.logger);
    this.#handover = new Handover(deps);
    this.#running = new RunningTasks(store, deps.maxRunningTasks);
  }

  admit(request: InboundRequest, stored: OnStored = () => {}): Promise<AdmissionOutcome> {
    const key = this.#keyOf(request);
    return this.#arrivals.once(key, (known, arrived) => {
      const onStored: OnStored = (task) => {
        arrived();
        stored(task);
      };
      if (known) return this.#again(request, known, onStored);
      return request.taskId === undefined
        ? this.#first(request, key, onStored)
        : this.#later(request, request.taskId, key, onStored);
    });
  }

  async open(request: SubtaskRequest): Promise<string> {
    const { agentId } = this.#deps.defaults;
    const { messageId, contextId, data, text } = request;
    const id = derivedTaskId(agentId, agentId, messageId);
    const key = inboxKey(agentId, messageId);
    const inbound: InboundRequest = {
      sender: agentId,
      senderKind: 'agent',
      messageId,
      message: { parts: [{ kind: 'text', text }], extensions: [], referenceTaskIds: [] },
      // One message id is one sub-task, whatever the model wrote this time.
      bodyHash: messageId,
      text,
      interrupt: false,
    };
    await this.#arrivals.once(key, (known, stored) =>
      known
        ? this.#again(inbound, known, stored)
        : this.#create(inbound, key, { id, contextId, reporter: agentId, data }, stored),
    );
    return id;
  }

  /** Delivers every stored message that no loop has consumed: what a crash between storing and delivering left. */
  async redeliver(signal: AbortSignal): Promise<number> {
    const rows = [...(await this.#deps.journal.store.unconsumed(1000))];
    let delivered = 0;
    const deliverNext = async (): Promise<void> => {
      for (let row = rows.shift(); row && !signal.aborted; row = rows.shift()) {
        try {
          await this.#handover.deliver(await this.#handover.task(row.taskId), row.mail, signal);
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
    const { defaults } = this.#deps;
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
    const command = this.#commandIn(request);
    if (command !== undefined) {
      throw new HarnessError(
        'input.unsupported',
        `/${command.name} needs a task; send it on one that exists`,
      );
    }
    const id = this.#deps.idempotency
      ? derivedTaskId(defaults.agentId, request.sender, request.messageId)
      : randomTaskId();
    const task: NewTask = {
      id,
      contextId: request.contextId ?? derivedContextId(id),
      reporter: request.sender,
      data: newTaskData(request, defaults.agentId, this.#deps.delegators),
    };
    return this.#running.oneMore(request.sender, async (counted) => {
      await this.#received(request);
      return this.#create(request, key, task, (row) => {
        counted();
        stored(row);
      });
    });
  }

  /** Stores a new task with its first message and starts it. */
  async #create(
    request: InboundRequest,
    key: string,
    task: NewTask,
    stored: OnStored,
  ): Promise<AdmissionOutcome> {
    const { journal, hooks } = this.#deps;
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
    const admitted = await journal.admit({ inbox: rowOf(request, task.id, key, task.data), task, entries });
    if (!admitted.created) return this.#again(request, admitted.row, stored);
    this.#deps.failpoint('admission.stored');
    const row = await this.#handover.task(task.id);
    stored(row);
    await hooks.phase('post', decided).catch((error: unknown) => {
      this.#deps.logger.error('a hook of task.created.post failed; the task goes on', {
        task: task.id,
        error,
      });
    });
    return this.#handover.deliver(row, admitted.row.mail);
  }

  async #later(
    request: InboundRequest,
    taskId: string,
    key: string,
    stored: OnStored,
  ): Promise<AdmissionOutcome> {
    const task = await this.#deps.journal.store.task(taskId);
    const member = await this.#memberOf(task, taskId, request);
    if (task === undefined) throw new HarnessError('internal', `task ${taskId} has a member and no row`);
    assertFits(request, task);
    const { role } = member;
    if (request.control === 'complete' && !mayDo(role, 'complete')) {
      throw new HarnessError('input.unsupported', `a ${role} may not complete task ${taskId}`);
    }
    if (request.text.trim() === '' && request.control === undefined && request.update === undefined) {
      throw invalid('message.parts', 'there is no text in this message');
    }
    const vetoed = await this.#vetoed(request, task);
    if (vetoed !== undefined) return this.#handover.refuse(task, request, key, vetoed);
    const command = this.#commandIn(request);
    if (command !== undefined) return this.#command(request, task, member, key, command, stored);
    if (request.control === undefined && !mayDo(role, 'write')) {
      return this.#handover.refuse(task, request, key, `a ${role} may read this task but not write to it`);
    }
    if (request.update && request.channel) {
      throw invalid('message.parts', 'a task envelope and a channel part need a message each');
    }
    // Before it is stored: no redelivery may take to the loop what is refused whatever the loop says.
    if (request.channel && request.channel.channelId !== taskId) {
      return this.#handover.refuse(task, request, key, 'you are not on that channel');
    }
    const change = request.update && changeOf(request.update, task.data, member);
    if (typeof change === 'string') return this.#handover.refuse(task, request, key, change);
    // Without words there is nothing for the loop: the next turn reads the task as it is then.
    const applied = change !== undefined && request.text.trim() === '';
    const changes = change && {
      changes: [change],
      entries: [{ key: `data:${key}`, exchange: 0, body: { kind: 'task_data' as const } }],
    };
    const inbox = rowOf(request, taskId, key, task.data);
    const take = async (): Promise<AdmissionOutcome> => {
      const admitted = await this.#deps.journal.admit({ inbox, consumed: applied, ...changes });
      if (!admitted.created) return this.#again(request, admitted.row, stored);
      this.#deps.failpoint('admission.stored');
      stored(task);
      if (applied) return { kind: 'applied', task, key, exchange: 0, duplicate: false };
      return this.#handover.deliver(task, admitted.row.mail);
    };
    return !applied && wakes(request, task) ? this.#running.oneMore(request.sender, take) : take();
  }

  /** The member who sends; for a stranger the same error and the same record whether or not there is a task (PC-3). */
  async #memberOf(
    task: TaskRow | undefined,
    taskId: string,
    { sender, messageId }: InboundRequest,
  ): Promise<Participant> {
    try {
      return assertMember(task, taskId, sender);
    } catch (error) {
      const reason = 'not on this task';
      await this.#deps.journal.store.recordRefusal({ taskId, sender, messageId, reason });
      throw error;
    }
  }

  /** Why a hook does not let a member's message in; undefined when none objects. */
  async #vetoed(request: InboundRequest, task: TaskRow): Promise<string | undefined> {
    try {
      await this.#received(request, task);
      return undefined;
    } catch (error) {
      if (error instanceof HookAbort) return error.reason;
      throw error;
    }
  }

  /** The command that a message is: its only part is a text that names one (SF-5). */
  #commandIn({
    message,
    text,
  }: InboundRequest): { name: string; argument: string; need: CommandNeed } | undefined {
    const [part, ...others] = message.parts;
    const parsed = part?.kind === 'text' && others.length === 0 ? parseCommand(text) : undefined;
    const command = parsed && this.#deps.commands.get(parsed.name);
    return parsed && command && { ...parsed, need: neededFor(command, parsed.argument) };
  }

  /** A slash command: it runs in an activity; `/complete` and `/cancel` are what the operations of that name are. */
  async #command(
    request: InboundRequest,
    task: TaskRow,
    { role }: Participant,
    key: string,
    command: { readonly name: string; readonly need: CommandNeed },
    stored: OnStored,
  ): Promise<AdmissionOutcome> {
    const { name, need } = command;
    const action = need === 'look' ? 'read' : need;
    if (!mayDo(role, action))
      return this.#handover.refuse(task, request, key, `a ${role} may not give /${name} here`);
    // It runs beside the turn, and cuts none.
    const given: InboundRequest = { ...request, interrupt: false };
    const row = rowOf(
      need === 'complete' ? { ...given, control: 'complete' } : given,
      task.id,
      key,
      task.data,
    );
    const runs = need === 'look' || need === 'write';
    const inbox = runs ? { ...row, mail: { ...row.mail, command: name } } : row;
    const admitted = await this.#deps.journal.admit({
      inbox,
      ...(need === 'cancel' ? { consumed: true, changes: [], entries: [messageEntry(key)] } : {}),
    });
    if (!admitted.created) return this.#again(request, admitted.row, stored);
    this.#deps.failpoint('admission.stored');
    stored(task);
    return need === 'cancel'
      ? this.#cancel(task, admitted.row, false)
      : this.#handover.deliver(task, admitted.row.mail);
  }

  /** `/cancel`: asks the loop to stop. Only the end of the task is what its sender waits for. */
  async #cancel(task: TaskRow, { key, sender }: InboxRow, duplicate: boolean): Promise<AdmissionOutcome> {
    const asked = isTerminal(task.state) || (await this.#deps.delivery.cancel(task.id, sender));
    if (!asked && !isTerminal((await reconcile(this.#deps, await this.#handover.task(task.id))).state)) {
      throw new HarnessError('temporal_unavailable', `Temporal has no running workflow for task ${task.id}`);
    }
    return { kind: 'accepted', task, key, exchange: Number.MAX_SAFE_INTEGER, duplicate };
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
    const task = await this.#handover.task(row.taskId);
    assertMember(task, row.taskId, request.sender);
    stored(task);
    if (this.#commandIn(request)?.need === 'cancel') return this.#cancel(task, row, true);
    if (!row.consumed && !isTerminal(task.state)) {
      return { ...(await this.#handover.deliver(task, row.mail)), duplicate: true };
    }
    return { ...(await this.#handover.settled(task, row.key)), duplicate: true };
  }

  async #received(request: InboundRequest, task?: TaskRow): Promise<void> {
    const { sender, messageId, text, taskId } = request;
    const input = { sender, messageId, text, ...(taskId === undefined ? {} : { taskId }) };
    const scope: OperationScope = {
      agentId: this.#deps.defaults.agentId,
      ...(task ? { taskId: task.id, contextId: task.contextId } : {}),
      participants: task?.data.participants ?? [],
      correlationId: `${sender}:${messageId}`,
      attempt: 1,
    };
    await this.#deps.hooks.run('request.received', scope, input, { body: () => ({ accepted: true }) });
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

/** True for a message that sets its sender's own task running again; answers and controls are for one that is at work. */
function wakes({ sender, control }: InboundRequest, { reporter, subState }: TaskRow): boolean {
  return sender === reporter && subState === 'awaiting-next-message' && control === undefined;
}

/** What a command needs; one that is ill-formed only answers how it is used. */
function neededFor(command: Command, argument: string): CommandNeed {
  try {
    return needOf(command, argument);
  } catch (error) {
    if (error instanceof HarnessError) return 'look';
    throw error;
  }
}

function messageEntry(inbox: string): NewEntry {
  return { key: `message:${inbox}`, exchange: 0, body: { kind: 'message', inbox } };
}

function invalid(field: string, problem: string): HarnessError {
  return new HarnessError('input.invalid', `${field}: ${problem}`, { details: { field } });
}
