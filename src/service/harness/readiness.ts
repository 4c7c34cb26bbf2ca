import type { Client } from '@temporalio/client';
import type { TaskStore } from '../../core/persistence/index.ts';
import type { ReadinessChecks } from '../a2a/index.ts';
import type { RunningWorker } from '../durable/worker/index.ts';

/** A worker asks for work at least once a minute; who has not for this long is gone. */
const POLLER_AGE_MS = 90_000;

/** What a harness needs to serve (OB-6). A worker of this process is known of; another one is seen by Temporal. */
export function readinessOf(parts: {
  readonly store: TaskStore;
  readonly client: Client;
  readonly taskQueue: string;
  readonly worker: RunningWorker | undefined;
}): ReadinessChecks {
  const { store, client, taskQueue, worker } = parts;
  let stopped = false;
  const end = () => {
    stopped = true;
  };
  worker?.stopped.then(end, end);
  return {
    async store() {
      await store.task('');
    },
    async temporal(signal) {
      await client.withAbortSignal(signal, () => client.workflowService.getSystemInfo({}));
    },
    async worker(signal) {
      if (worker === undefined) await assertPolled(client, taskQueue, signal);
      else if (stopped) throw new Error('the worker of this process has stopped');
    },
  };
}

async function assertPolled(client: Client, taskQueue: string, signal: AbortSignal): Promise<void> {
  const { pollers } = await client.withAbortSignal(signal, () =>
    client.workflowService.describeTaskQueue({
      namespace: client.options.namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: 1,
    }),
  );
  const since = Date.now() - POLLER_AGE_MS;
  if (!pollers?.some(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000 > since)) {
    throw new Error(`nobody polls the task queue ${taskQueue}`);
  }
}
