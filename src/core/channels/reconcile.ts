import { isTerminal } from '../loop/index.ts';
import type { Journal, TaskRow } from '../persistence/index.ts';
import type { DeliveryPort } from './inbound.ts';

/**
 * Ends a task whose loop is gone without having said so: its row becomes FAILED with the reason (crash table: "task row
 * without workflow"). A loop that runs, or that nobody has heard of yet, is left alone: its first message may still be
 * on the way.
 *
 * @returns the row as it stands now.
 */
export async function reconcile(
  deps: { readonly journal: Journal; readonly delivery: DeliveryPort },
  task: TaskRow,
): Promise<TaskRow> {
  if (isTerminal(task.state)) return task;
  const fate = await deps.delivery.fate(task.id);
  const unheard = fate.kind === 'missing' && task.state === 'SUBMITTED';
  if (fate.kind === 'running' || unheard) return task;
  const reason = fate.kind === 'missing' ? 'Temporal does not know its workflow any more' : fate.reason;
  const [status] = await deps.journal.store.log(task.id, { after: task.statusSeq - 1, upTo: task.statusSeq });
  const written = await deps.journal.write(task.id, {
    entries: [
      {
        key: 'reconciled',
        exchange: Math.max(1, status?.exchange ?? 0),
        body: {
          kind: 'state',
          state: 'FAILED',
          subState: null,
          text: `The agent could not go on: ${reason}.`,
          questions: [],
          code: 'temporal_unavailable',
        },
      },
    ],
    state: { state: 'FAILED', subState: null, entry: 'reconciled' },
  });
  return written.task;
}
