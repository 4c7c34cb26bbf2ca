import type {
  AgentCard,
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksResponse,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { HarnessError } from '../../core/base/index.ts';
import type { AdmissionOutcome, AdmissionPort, DeliveryPort } from '../../core/channels/index.ts';
import { isInterrupted, isTerminal, type TaskState } from '../../core/loop/index.ts';
import type { Journal, JournalEvent, LogEntry, TaskRow } from '../../core/persistence/index.ts';
import { mayDo, memberOf } from '../../core/security/index.ts';
import { callOf } from './call.ts';
import { callerOf, type IdentityOptions, senderOf } from './identity.ts';
import type { Projection, View } from './projection.ts';

/** How long a blocking send waits before it answers with the task as it is. */
const BLOCKING_LIMIT_MS = 5 * 60_000;

/** How long a cancel waits for the task to end. */
const CANCEL_LIMIT_MS = 15_000;

export interface HandlerDeps {
  readonly card: AgentCard;
  readonly admission: AdmissionPort;
  readonly delivery: DeliveryPort;
  readonly journal: Journal;
  readonly projection: Projection;
  readonly identity: IdentityOptions;
}

/**
 * A2A's operations over the log. A request never runs the loop: it hands a message to the task's workflow and reads
 * what the log says. Every operation on a task goes through `#lookup`.
 */
export class LogRequestHandler implements A2ARequestHandler {
  readonly #deps: HandlerDeps;

  constructor(deps: HandlerDeps) {
    this.#deps = deps;
  }

  async getAgentCard(): Promise<AgentCard> {
    return this.#deps.card;
  }

  async sendMessage(params: SendMessageRequest, context: ServerCallContext): Promise<Task> {
    const view = viewOf(context);
    const outcome = await this.#admit(context);
    const historyLength = params.configuration?.historyLength;
    if (outcome.kind === 'refused') {
      const task = await this.#deps.projection.task(outcome.task, view, historyLength);
      const { message } = this.#refusal(outcome, context);
      return { ...task, status: task.status && { ...task.status, message } };
    }
    if (params.configuration?.returnImmediately !== true) {
      const signal = AbortSignal.any([callOf(context).signal, AbortSignal.timeout(BLOCKING_LIMIT_MS)]);
      await this.#endOf(outcome, signal);
    }
    const row = (await this.#deps.journal.store.task(outcome.task.id)) ?? outcome.task;
    return this.#deps.projection.task(row, view, historyLength);
  }

  async *sendMessageStream(
    params: SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const view = viewOf(context);
    let events: AsyncGenerator<JournalEvent, void, undefined> | undefined;
    const outcome = await this.#admit(context, (task) => {
      events = begun(this.#deps.journal.follow(task.id, task.log, callOf(context).signal));
    });
    yield* this.#snapshot(outcome.task, view, context, params.configuration?.historyLength);
    if (outcome.kind === 'refused') {
      yield this.#refusal(outcome, context).update;
      return;
    }
    if (endsExchange(outcome.task.state, await this.#statusExchange(outcome.task), outcome.exchange)) return;
    const ends = ({ body, exchange }: LogEntry) =>
      body.kind === 'state' && endsExchange(body.state, exchange, outcome.exchange);
    yield* this.#follow(outcome.task, outcome.task.log, view, context, ends, events);
  }

  async getTask(params: GetTaskRequest, context: ServerCallContext): Promise<Task> {
    const { row } = await this.#lookup(params.id, context);
    return this.#deps.projection.task(row, viewOf(context), params.historyLength);
  }

  async cancelTask(params: CancelTaskRequest, context: ServerCallContext): Promise<Task> {
    const { row, caller, role } = await this.#lookup(params.id, context);
    const view = viewOf(context);
    if (!mayDo(role, 'cancel')) {
      throw new HarnessError('input.unsupported', `a ${role} may not cancel task ${row.id}`);
    }
    if (!isTerminal(row.state)) {
      const running = await this.#deps.delivery.cancel(row.id, caller);
      if (!running && !isTerminal((await this.#row(row.id)).state)) {
        throw new HarnessError('temporal_unavailable', `Temporal has no running workflow for task ${row.id}`);
      }
      const signal = AbortSignal.any([callOf(context).signal, AbortSignal.timeout(CANCEL_LIMIT_MS)]);
      await this.#terminal(row, signal);
    }
    const now = await this.#row(row.id);
    if (isTerminal(now.state) && now.state !== 'CANCELED') {
      throw new HarnessError('task.not_cancelable', `task ${row.id} is ${now.state}`);
    }
    return this.#deps.projection.task(now, view);
  }

  async *resubscribe(
    params: SubscribeToTaskRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const { row } = await this.#lookup(params.id, context);
    const view = viewOf(context);
    const { lastEventId } = callOf(context);
    if (isTerminal(row.state) && lastEventId === undefined) {
      throw new HarnessError('task.ended', `task ${row.id} is ${row.state}; there is nothing to follow`);
    }
    if (lastEventId === undefined) yield* this.#snapshot(row, view, context);
    const after = Math.min(lastEventId ?? row.log, row.log);
    if (isTerminal(row.state) && after >= row.statusSeq) return;
    yield* this.#follow(
      row,
      after,
      view,
      context,
      ({ body }) => body.kind === 'state' && isTerminal(body.state),
    );
  }

  listTasks(): Promise<ListTasksResponse> {
    return unsupported('ListTasks');
  }

  getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    return unsupported('GetExtendedAgentCard');
  }

  createTaskPushNotificationConfig(): Promise<TaskPushNotificationConfig> {
    return noPush();
  }

  getTaskPushNotificationConfig(): Promise<TaskPushNotificationConfig> {
    return noPush();
  }

  listTaskPushNotificationConfigs(): Promise<never> {
    return noPush();
  }

  deleteTaskPushNotificationConfig(): Promise<void> {
    return noPush();
  }

  async #admit(context: ServerCallContext, stored?: (task: TaskRow) => void): Promise<AdmissionOutcome> {
    const call = callOf(context);
    const { send } = call;
    if (send === undefined) throw new HarnessError('internal', 'a send without a message');
    const sender = senderOf(call.participant, send, this.#deps.identity);
    if (send.channelSender !== undefined && send.channelSender !== sender) {
      throw new HarnessError(
        'input.invalid',
        `the channel part says it is from "${send.channelSender}", the caller is "${sender}"`,
        {
          details: { field: 'message.parts' },
        },
      );
    }
    return this.#deps.admission.admit({ ...send.request, sender, senderKind: send.senderKind }, stored);
  }

  /** The one way to a task: not yours and not existing are the same answer (PC-10). */
  async #lookup(
    taskId: string,
    context: ServerCallContext,
  ): Promise<{ row: TaskRow; caller: string; role: Parameters<typeof mayDo>[0] }> {
    const caller = callerOf(callOf(context).participant, this.#deps.identity, taskId);
    const row = await this.#deps.journal.store.task(taskId);
    const member = row && memberOf(row.data, caller);
    if (row === undefined || member === undefined || !mayDo(member.role, 'read')) {
      throw new HarnessError('task.not_found', `there is no task ${taskId}`);
    }
    return { row, caller, role: member.role };
  }

  async #row(taskId: string): Promise<TaskRow> {
    const row = await this.#deps.journal.store.task(taskId);
    if (row === undefined) throw new HarnessError('task.not_found', `there is no task ${taskId}`);
    return row;
  }

  async *#snapshot(
    row: TaskRow,
    view: View,
    context: ServerCallContext,
    historyLength?: number,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const task = await this.#deps.projection.task(row, view, historyLength);
    callOf(context).eventId = row.log;
    yield { payload: { $case: 'task', value: task } };
  }

  async *#follow(
    row: TaskRow,
    after: number,
    view: View,
    context: ServerCallContext,
    ends: (entry: LogEntry) => boolean,
    events: AsyncIterable<JournalEvent> = this.#deps.journal.follow(row.id, after, callOf(context).signal),
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const call = callOf(context);
    let state = await this.#stateAt(row, after);
    for await (const event of events) {
      if (event.kind === 'delta') {
        const drawn = this.#deps.projection.delta(row, event.delta, view);
        call.eventId = undefined;
        if (drawn) yield drawn;
        continue;
      }
      const { entry } = event;
      if (entry.body.kind === 'state') state = entry.body.state;
      const drawn = await this.#deps.projection.entry(row, entry, state, view);
      call.eventId = entry.seq;
      if (drawn) yield drawn;
      if (ends(entry)) return;
    }
  }

  /** The state a task was in after an entry of its log. */
  async #stateAt(row: TaskRow, seq: number): Promise<TaskState> {
    if (seq >= row.statusSeq) return row.state;
    const [entry] = await this.#deps.journal.store.log(row.id, { upTo: seq, kinds: ['state'], last: 1 });
    return entry?.body.kind === 'state' ? entry.body.state : 'SUBMITTED';
  }

  async #statusExchange(row: TaskRow): Promise<number> {
    const [entry] = await this.#deps.journal.store.log(row.id, {
      after: row.statusSeq - 1,
      upTo: row.statusSeq,
    });
    return entry?.exchange ?? 0;
  }

  async #endOf(outcome: AdmissionOutcome, signal: AbortSignal): Promise<void> {
    const { task, exchange } = outcome;
    if (endsExchange(task.state, await this.#statusExchange(task), exchange)) return;
    for await (const event of this.#deps.journal.follow(task.id, task.log, signal)) {
      if (event.kind !== 'entry' || event.entry.body.kind !== 'state') continue;
      if (endsExchange(event.entry.body.state, event.entry.exchange, exchange)) return;
    }
  }

  async #terminal(row: TaskRow, signal: AbortSignal): Promise<void> {
    for await (const event of this.#deps.journal.follow(row.id, row.statusSeq - 1, signal)) {
      if (event.kind === 'entry' && event.entry.body.kind === 'state' && isTerminal(event.entry.body.state))
        return;
    }
  }

  #refusal(outcome: AdmissionOutcome, context: ServerCallContext): ReturnType<Projection['refusal']> {
    callOf(context).eventId = undefined;
    return this.#deps.projection.refusal(outcome.task, crypto.randomUUID(), outcome.reason ?? 'not accepted');
  }
}

/** A send's stream ends when the exchange of its message, or a later one, parks or ends (invariant 4). */
function endsExchange(state: TaskState, exchange: number, own: number): boolean {
  return isTerminal(state) || (isInterrupted(state) && exchange >= own);
}

/** Asks a source for its first event now, so that it hears what happens before it is read; its signal ends it. */
function begun<T>(source: AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
  const first = source.next();
  first.catch(() => {});
  return (async function* () {
    try {
      for (let next = await first; next.done !== true; next = await source.next()) yield next.value;
    } finally {
      await source.return();
    }
  })();
}

function viewOf(context: ServerCallContext): View {
  return { extensions: new Set(context.activatedExtensions ?? []) };
}

function unsupported(what: string): Promise<never> {
  return Promise.reject(new HarnessError('input.unsupported', `${what} is not supported by this agent`));
}

function noPush(): Promise<never> {
  return Promise.reject(new HarnessError('input.push_unsupported', 'this agent sends no push notifications'));
}
