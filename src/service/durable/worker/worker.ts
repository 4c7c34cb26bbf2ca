import {
  type LogLevel,
  makeTelemetryFilterString,
  type NativeConnection,
  Runtime,
  Worker,
} from '@temporalio/worker';
import type { Logger } from '../../../core/base/index.ts';
import type { TaskActivities } from '../contract/index.ts';
import { workflowBundlePath } from './bundle.ts';

/** The longest a cut waits until a running activity hears of it; the SDK's own default is 24 s (DU-5). */
const HEARTBEAT_THROTTLE_MS = 500;
/**
 * How long a workflow task waits for the worker that has its workflow in memory, before any worker may take it. With the
 * SDK's 10 s, a task whose worker was killed goes on that much later; a live worker takes its tasks in milliseconds.
 */
const STICKY_TIMEOUT_MS = 2_000;

export interface WorkerOptions {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly activities: TaskActivities;
  /** Workflows kept in memory. */
  readonly maxCachedWorkflows: number;
  /** How long running activities may go on after `shutdown` (milliseconds). */
  readonly shutdownGraceMs?: number;
}

/** A worker that polls. */
export interface RunningWorker {
  /** Settles when the worker has stopped; rejects when it failed. */
  readonly stopped: Promise<void>;
  /** Stops polling, drains, and waits for the end. */
  shutdown(): Promise<void>;
}

/** Starts the worker of one agent on its own queue. */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const worker = await Worker.create({
    connection: options.connection,
    namespace: options.namespace,
    taskQueue: options.taskQueue,
    workflowBundle: { codePath: workflowBundlePath() },
    activities: { ...options.activities },
    maxCachedWorkflows: options.maxCachedWorkflows,
    stickyQueueScheduleToStartTimeout: STICKY_TIMEOUT_MS,
    maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
    defaultHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
    shutdownGraceTime: options.shutdownGraceMs ?? 5_000,
  });
  const stopped = worker.run();
  // Whoever cares awaits `stopped`; a failure before that must not end the process.
  stopped.catch(() => {});
  return {
    stopped,
    async shutdown() {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await stopped;
    },
  };
}

/**
 * Installs Temporal's native runtime once per process: no signal handlers of its own, its log lines on ours. Where the
 * host has installed one already, that one is used.
 */
export function installRuntime(logger: Logger): void {
  const line = (level: LogLevel, message: string, meta?: Record<string, unknown>): void => {
    // Attempts that fail are reported by the activities themselves, once and in our words.
    const known = level === 'WARN' && /^Activity (failed|completed)/.test(message);
    const as = known || level === 'INFO' || level === 'TRACE' ? 'DEBUG' : level;
    logger[as === 'ERROR' ? 'error' : as === 'WARN' ? 'warn' : 'debug'](message, withoutNoise(meta));
  };
  try {
    Runtime.install({
      shutdownSignals: [],
      logger: {
        log: line,
        trace: (message, meta) => line('TRACE', message, meta),
        debug: (message, meta) => line('DEBUG', message, meta),
        info: (message, meta) => line('INFO', message, meta),
        warn: (message, meta) => line('WARN', message, meta),
        error: (message, meta) => line('ERROR', message, meta),
      },
      // The native part speaks through the same logger, not past it.
      telemetryOptions: {
        logging: { filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }), forward: {} },
      },
    });
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'IllegalStateError') throw error;
  }
}

/** What helps nobody who reads the log: tokens, and the history of a failed workflow task. */
function withoutNoise(meta: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  if (meta === undefined) return undefined;
  const { taskToken: _token, ...rest } = meta;
  return rest;
}
