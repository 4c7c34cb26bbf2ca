import type {
  AgentCard,
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { HarnessError } from '../../core/base/index.ts';
import {
  type AdmissionOutcome,
  type AdmissionPort,
  type DeliveryPort,
  reconcile,
} from '../../core/channels/index.ts';
import { isTerminal } from '../../core/loop/index.ts';
import type { Journal, TaskRow } from '../../core/persistence/index.ts';
import { assertMember, mayDo } from '../../core/security/index.ts';
import { callOf } from './call.ts';
import { callerOf, type IdentityOptions, senderOf } from './identity.ts';
import { pageToken, queryOf } from './list-tasks.ts';
import { LogReader, settles } from './log-reader.ts';
import { LoopWatch } from './loop-watch.ts';
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
  /** How long a task that works may be silent until its readers ask after its loop (ms); the default is meant. */
  readonly silenceMs?: number;
}

/**
 * A2A's operations over the log. A request never runs the loop: it hands a message to the task's workflow and reads
 * what the log says. Every operation on a task goes through `#lookup`.
 */
export class LogRequestHandler implements A2ARequestHandler {
  readonly #deps: HandlerDeps;
  readonly #reader: LogReader;

  constructor(deps: HandlerDeps) {
    this.#deps = deps;
    const watch = new LoopWatch(deps, deps.silenceMs);
    this.#reader = new LogReader(deps.journal, deps.projection, watch);
  }

  async getAgentCard(): Promise<AgentCard> {
    return this.#deps.card;
  }

  async sendMessage(params: SendMessageRequest, context: ServerCallContext): Promise<Task> {
    const view = viewOf(context);
    const { outcome, sender } = await this.#admit(context);
    const historyLength = params.configuration?.historyLength;
    if (outcome.kind === 'refused') {
      const task = await this.#deps.projection.task(outcome.task, view, { historyLength });
      const { message } = this.#refusal(outcome, context);
      return { ...task, status: task.status && { ...task.status, message } };
    }
    const signal = AbortSignal.any([callOf(context).signal, AbortSignal.timeout(BLOCKING_LIMIT_MS)]);
    const row =
      params.configuration?.returnImmediately === true
        ? await this.#row(outcome.task.id)
        : await this.#reader.untilSettled(outcome, signal);
    // It may have taken its sender off the task while they waited, unless that is what they asked for.
    if (outcome.kind !== 'applied') assertMember(row, row.id, sender);
    return this.#deps.projection.task(row, view, { historyLength });
  }

  async *sendMessageStream(
    params: SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const view = viewOf(context);
    const call = callOf(context);
    let following: ReturnType<LogReader['subscribed']> | undefined;
    const { outcome, sender } = await this.#admit(context, (task) => {
      following = this.#reader.subscribed(task, call.signal);
    });
    const { task } = outcome;
    yield* this.#reader.snapshot(task, view, call, params.configuration?.historyLength);
    if (outcome.kind === 'refused') {
      yield this.#refusal(outcome, context).update;
      return;
    }
    if (await this.#reader.isSettled(task, outcome)) return;
    yield* this.#reader.follow({
      row: task,
      reader: sender,
      after: task.log,
      view,
      call,
      ends: (entry) => settles(entry, outcome),
      ...(following ? { events: following } : {}),
    });
  }

  async getTask(params: GetTaskRequest, context: ServerCallContext): Promise<Task> {
    const { row } = await this.#lookup(params.id, context);
    return this.#deps.projection.task(row, viewOf(context), { historyLength: params.historyLength });
  }

  async cancelTask(params: CancelTaskRequest, context: ServerCallContext): Promise<Task> {
    const { row, caller, role } = await this.#lookup(params.id, context);
    const view = viewOf(context);
    if (!mayDo(role, 'cancel')) {
      throw new HarnessError('input.unsupported', `a ${role} may not cancel task ${row.id}`);
    }
    if (!isTerminal(row.state)) {
      const running = await this.#deps.delivery.cancel(row.id, caller);
      // Without a loop that could be stopped it may have ended, or ends now, with that for a reason.
      if (!running && !isTerminal((await reconcile(this.#deps, await this.#row(row.id))).state)) {
        throw new HarnessError('temporal_unavailable', `Temporal has no running workflow for task ${row.id}`);
      }
      const signal = AbortSignal.any([callOf(context).signal, AbortSignal.timeout(CANCEL_LIMIT_MS)]);
      await this.#reader.untilTerminal(row, signal);
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
    const { row, caller: reader } = await this.#lookup(params.id, context);
    const view = viewOf(context);
    const call = callOf(context);
    const { lastEventId } = call;
    if (isTerminal(row.state) && lastEventId === undefined) {
      throw new HarnessError('task.ended', `task ${row.id} is ${row.state}; there is nothing to follow`);
    }
    if (lastEventId === undefined) yield* this.#reader.snapshot(row, view, call);
    const after = Math.min(lastEventId ?? row.log, row.log);
    if (isTerminal(row.state) && after >= row.statusSeq) return;
    yield* this.#reader.follow({
      row,
      reader,
      after,
      view,
      call,
      ends: ({ body }) => body.kind === 'state' && isTerminal(body.state),
    });
  }

  async listTasks(_params: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    const { participant, list } = callOf(context);
    if (list === undefined) throw new HarnessError('internal', 'a list without its parameters');
    const reader = callerOf(participant, this.#deps.identity);
    const found = await this.#deps.journal.store.tasks(queryOf(list, reader));
    const view = viewOf(context);
    const shown = { historyLength: list.historyLength, artifacts: list.includeArtifacts };
    return {
      tasks: await Promise.all(found.tasks.map((row) => this.#deps.projection.task(row, view, shown))),
      nextPageToken: found.next === undefined ? '' : pageToken(found.next, list, reader),
      pageSize: list.pageSize,
      totalSize: found.total,
    };
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

  async #admit(
    context: ServerCallContext,
    stored?: (task: TaskRow) => void,
  ): Promise<{ readonly outcome: AdmissionOutcome; readonly sender: string }> {
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
    const request = { ...send.request, sender, senderKind: send.senderKind };
    const outcome = await this.#deps.admission.admit(request, stored);
    // A control envelope is an operation: one that is not done is an error (11-wire, Refusals).
    if (outcome.kind === 'refused' && request.control !== undefined) {
      throw new HarnessError('input.unsupported', outcome.reason ?? 'not accepted');
    }
    return { outcome, sender };
  }

  /** The one way to a task: not yours and not existing are the same answer (PC-10). */
  async #lookup(
    taskId: string,
    context: ServerCallContext,
  ): Promise<{ row: TaskRow; caller: string; role: Parameters<typeof mayDo>[0] }> {
    const caller = callerOf(callOf(context).participant, this.#deps.identity, taskId);
    const row = await this.#deps.journal.store.task(taskId);
    const { role } = assertMember(row, taskId, caller);
    if (row === undefined) throw new HarnessError('internal', `task ${taskId} has a member and no row`);
    return { row, caller, role };
  }

  async #row(taskId: string): Promise<TaskRow> {
    const row = await this.#deps.journal.store.task(taskId);
    if (row === undefined) throw new HarnessError('task.not_found', `there is no task ${taskId}`);
    return row;
  }

  #refusal(outcome: AdmissionOutcome, context: ServerCallContext): ReturnType<Projection['refusal']> {
    callOf(context).eventId = undefined;
    return this.#deps.projection.refusal(outcome.task, crypto.randomUUID(), outcome.reason ?? 'not accepted');
  }
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
