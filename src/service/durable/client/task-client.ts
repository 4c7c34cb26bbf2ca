import {
  type Client,
  isGrpcDeadlineError,
  isGrpcServiceError,
  ServiceError,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { HarnessError, messageOf } from '../../../core/base/index.ts';
import type { Delivery, DeliveryPort, LoopFate } from '../../../core/channels/index.ts';
import type { CarriedState, MailItem, Receipt } from '../../../core/loop/index.ts';
import {
  CANCEL_SIGNAL,
  INBOX_UPDATE,
  SEARCH_ATTRIBUTES,
  TASK_WORKFLOW,
  type TaskOptions,
  type TaskStart,
} from '../contract/index.ts';
import { TemporalAwayError, whileAnswering } from './while-answering.ts';

/** Longer than the 10 s after which another worker gets the workflow task that a lost one had begun (DU-11). */
const DELIVERY_DEADLINE_MS = 20_000;

const CONTEXT_ID = defineSearchAttributeKey(SEARCH_ATTRIBUTES.contextId, SearchAttributeType.KEYWORD);
const AGENT = defineSearchAttributeKey(SEARCH_ATTRIBUTES.agent, SearchAttributeType.KEYWORD);

/**
 * Talks to the workflows of one agent. Every call has a deadline and a clear error, never a hang (DU-11); that Temporal
 * is away is said within seconds (EM-7).
 */
export class TaskClient implements DeliveryPort {
  readonly #client: Client;
  readonly #taskQueue: string;
  readonly #options: TaskOptions;
  readonly #deadlineMs: number;

  constructor(
    client: Client,
    taskQueue: string,
    task: TaskOptions,
    options: { readonly deadlineMs?: number } = {},
  ) {
    this.#client = client;
    this.#taskQueue = taskQueue;
    this.#options = task;
    this.#deadlineMs = options.deadlineMs ?? DELIVERY_DEADLINE_MS;
  }

  /**
   * Starts a task's workflow with its first message, or joins the one that runs, and returns the receipt.
   *
   * @throws HarnessError `worker_unavailable`, `temporal_unavailable`.
   */
  start(state: CarriedState, item: MailItem): Promise<Delivery> {
    const start: TaskStart = { state, options: this.#options };
    const operation = new WithStartWorkflowOperation(TASK_WORKFLOW, {
      workflowId: state.taskId,
      taskQueue: this.#taskQueue,
      args: [start],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      ...(state.searchAttributes
        ? {
            typedSearchAttributes: [
              { key: CONTEXT_ID, value: state.contextId },
              { key: AGENT, value: state.agentId },
            ],
          }
        : {}),
    });
    // The handle's promise rejects beside the update's; this one answers for both.
    operation.workflowHandle().catch(() => {});
    return this.#deliver(state.taskId, () =>
      this.#client.workflow.executeUpdateWithStart<never, Receipt, [MailItem]>(INBOX_UPDATE, {
        args: [item],
        updateId: item.key,
        startWorkflowOperation: operation as never,
      }),
    );
  }

  /**
   * Hands a later message to a task's workflow.
   *
   * @throws HarnessError `worker_unavailable`, `temporal_unavailable`.
   */
  deliver(taskId: string, item: MailItem): Promise<Delivery> {
    return this.#deliver(taskId, () =>
      this.#client.workflow
        .getHandle(taskId)
        .executeUpdate<Receipt, [MailItem]>(INBOX_UPDATE, { args: [item], updateId: item.key }),
    );
  }

  /**
   * Asks a task to stop. False when no workflow of that id runs.
   *
   * @throws HarnessError `temporal_unavailable`.
   */
  async cancel(taskId: string, by: string): Promise<boolean> {
    try {
      await this.#inTime(() => this.#client.workflow.getHandle(taskId).signal(CANCEL_SIGNAL, by));
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw unavailable('temporal_unavailable', taskId, error);
    }
  }

  /**
   * What became of a task's workflow.
   *
   * @throws HarnessError `temporal_unavailable`.
   */
  async fate(taskId: string): Promise<LoopFate> {
    const handle = this.#client.workflow.getHandle(taskId);
    try {
      const { status } = await this.#inTime(() => handle.describe());
      if (status.name === 'RUNNING') return { kind: 'running' };
      if (status.name !== 'FAILED') return { kind: 'ended', reason: `its workflow is ${status.name}` };
      const failure = await this.#inTime(() => handle.result()).then(
        () => undefined,
        (error: unknown) => (error instanceof WorkflowFailedError ? error.cause : error),
      );
      return { kind: 'ended', reason: failure ? messageOf(failure) : 'its workflow failed' };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return { kind: 'missing' };
      throw unavailable('temporal_unavailable', taskId, error);
    }
  }

  async #deliver(taskId: string, call: () => Promise<Receipt>): Promise<Delivery> {
    try {
      return { kind: 'receipt', receipt: await this.#inTime(call) };
    } catch (error) {
      if (error instanceof WorkflowUpdateFailedError) {
        if (error.cause instanceof ApplicationFailure && error.cause.type === 'task.closing')
          return { kind: 'closing' };
        throw error;
      }
      if (error instanceof WorkflowNotFoundError || error instanceof WorkflowExecutionAlreadyStartedError) {
        return { kind: 'ended' };
      }
      if (isClosedWorkflow(error)) return { kind: 'ended' };
      if (isBetweenRuns(error)) return { kind: 'closing' };
      throw unavailable(isTimeout(error) ? 'worker_unavailable' : 'temporal_unavailable', taskId, error);
    }
  }

  #inTime<T>(call: () => Promise<T>): Promise<T> {
    return whileAnswering(this.#client, this.#client.withDeadline(Date.now() + this.#deadlineMs, call));
  }
}

function isTimeout(error: unknown): boolean {
  if (error instanceof TemporalAwayError) return false;
  return error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isGrpcDeadlineError(error);
}

/** An update that was accepted for a workflow that closed before it ran. */
function isClosedWorkflow(error: unknown): boolean {
  return /workflow (execution|update).*(completed|clos)/i.test(detailsOf(error));
}

/**
 * An update that came while the task was carried over to a fresh history: a signal that came with it had that tried again,
 * and the update is to be sent again too.
 */
function isBetweenRuns(error: unknown): boolean {
  return /unexpected workflow task failure/i.test(detailsOf(error));
}

function detailsOf(error: unknown): string {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) ? cause.details : '';
}

function unavailable(
  code: 'worker_unavailable' | 'temporal_unavailable',
  taskId: string,
  cause: unknown,
): HarnessError {
  const what =
    code === 'worker_unavailable'
      ? `no worker answered for task ${taskId} in time; it may still be worked on`
      : `Temporal did not answer for task ${taskId} (${messageOf(cause)})`;
  return new HarnessError(code, `${what}. Send the message again with the same message id.`, { cause });
}
