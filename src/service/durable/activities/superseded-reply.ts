import type { NewEntry } from '../../../core/persistence/index.ts';
import type { ActivityDeps } from './deps.ts';

/**
 * The newest reply of an exchange that goes on, or ends with other words, as the remark it has become: every reply is in
 * the history, and the last one is the status message. Added again, it is the entry that is there.
 */
export async function supersededReply(
  deps: ActivityDeps,
  taskId: string,
  exchange: number,
): Promise<readonly NewEntry[]> {
  const [reply] = await deps.journal.store.log(taskId, { kinds: ['response'], last: 1 });
  if (reply?.body.kind !== 'response' || reply.exchange !== exchange) return [];
  // The state that parked the exchange carries the reply already.
  const [parked] = await deps.journal.store.log(taskId, { after: reply.seq, kinds: ['state'], last: 1 });
  if (parked !== undefined) return [];
  const turn = reply.key.slice(reply.key.indexOf(':'));
  return [{ key: `note${turn}`, exchange, body: { kind: 'note', text: reply.body.text } }];
}
