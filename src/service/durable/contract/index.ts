/**
 * What workflows, workers and clients agree on: names, inputs, the activities' interface. Pure; imports the loop's
 * types and nothing else. A change here is a change of recorded histories.
 */
import type {
  CallInput,
  CallOutput,
  CarriedState,
  CommandRun,
  CommitInput,
  CommitOutput,
  ForwardInput,
  HelpOutput,
  SpawnOutput,
  TurnInput,
  TurnOutput,
} from '../../../core/loop/index.ts';

/** The workflow that runs a task; its id is the task's id. */
export const TASK_WORKFLOW = 'TaskWorkflow';

/** Update: hands a message to the loop and returns its receipt. Rejected while the task closes. */
export const INBOX_UPDATE = 'inbox';

/** Signal: asks the task to stop; its argument is who asks. */
export const CANCEL_SIGNAL = 'cancel';

/** Signal: a sub-task's report to its parent (DU-8); its argument is a `ChildReport`. */
export const REPORT_SIGNAL = 'child_report';

/** Query: what the task is doing, in numbers. */
export const MONITOR_QUERY = 'monitor';

/** Search attributes, where the server has them (DU-10). */
export const SEARCH_ATTRIBUTES = {
  contextId: 'A2AContextId',
  taskState: 'A2ATaskState',
  agent: 'TinyHarnessAgent',
} as const;

/** How often and how patiently an activity is tried again (DU-4). Times in milliseconds. */
export interface RetryPolicy {
  readonly initialIntervalMs: number;
  readonly backoffCoefficient: number;
  readonly maximumIntervalMs: number;
  /** 0: without bound. */
  readonly maximumAttempts: number;
  readonly nonRetryable: readonly string[];
}

/** What a task's workflow keeps from the configuration of the server that started it. */
export interface TaskOptions {
  readonly heartbeatTimeoutMs: number;
  /** Longest a single model turn or tool call may take. */
  readonly modelTimeoutMs: number;
  readonly toolTimeoutMs: number;
  readonly historyEventBound: number;
  readonly retries: {
    readonly modelTurn: RetryPolicy;
    readonly runTool: RetryPolicy;
    readonly commit: RetryPolicy;
  };
}

/** Start arguments of `TaskWorkflow`; the first message is in the state's mailbox. */
export interface TaskStart {
  readonly state: CarriedState;
  readonly options: TaskOptions;
}

/** What an activity is told of the attempt it is. */
export interface Attempt {
  /** 1 for the first. */
  readonly number: number;
  /** A worker was lost while the attempt before this one ran. */
  readonly afterLoss: boolean;
}

/** The activities a worker offers. Each finds what an earlier attempt stored and returns it. */
export interface TaskActivities {
  modelTurn(input: TurnInput, attempt: Attempt): Promise<TurnOutput>;
  runTool(input: CallInput, attempt: Attempt): Promise<CallOutput>;
  requestHelp(input: CallInput, attempt: Attempt): Promise<HelpOutput>;
  requestApproval(input: CallInput, attempt: Attempt): Promise<HelpOutput>;
  spawnSubtask(input: CallInput, attempt: Attempt): Promise<SpawnOutput>;
  forward(input: ForwardInput, attempt: Attempt): Promise<void>;
  runCommand(input: CommandRun, attempt: Attempt): Promise<SpawnOutput>;
  commit(input: CommitInput, attempt: Attempt): Promise<CommitOutput>;
}

/** Answer of the `monitor` query. */
export interface Monitor {
  readonly phase: CarriedState['phase'];
  readonly state: CarriedState['state'];
  readonly exchange: number;
  readonly turn: number;
  readonly mailbox: number;
  readonly openQuestions: number;
}
