import { isTerminal, type SubState, type TaskState } from '../../../core/loop/index.ts';
import type { TaskRow } from '../../../core/persistence/index.ts';
import type { ActivityDeps } from './deps.ts';

/** The task of this store that a task is a sub-task of; undefined for one that stands on its own. */
export async function parentOf(deps: ActivityDeps, task: TaskRow): Promise<TaskRow | undefined> {
  // Links that came from outside name tasks of others.
  if (task.reporter !== deps.agentId) return undefined;
  const link = task.data.parentTasks.find(({ agent }) => agent === null);
  return link && deps.journal.store.task(link.taskId);
}

/** Writes into the parent's data how a sub-task stands (ST-2), for whoever reads it. */
export async function tellParent(
  deps: ActivityDeps,
  task: TaskRow,
  { state, subState, entry }: { state: TaskState; subState: SubState | null; entry: string },
): Promise<void> {
  const parent = await parentOf(deps, task);
  if (parent === undefined || isTerminal(parent.state)) return;
  const link = { taskId: task.id, agent: null, state, subState };
  await deps.journal.write(parent.id, {
    changes: [{ kind: 'sub_task', link }],
    entries: [{ key: `sub_task:${task.id}:${entry}`, exchange: 0, body: { kind: 'task_data' } }],
  });
}
