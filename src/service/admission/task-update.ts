import type { TaskUpdate } from '../../core/extensions/index.ts';
import type { Participant, TaskChange, TaskData } from '../../core/loop/index.ts';
import { mayDo } from '../../core/security/index.ts';

/** Fields that an envelope may change on a task that exists. */
const OPEN_FIELDS: readonly (keyof TaskUpdate)[] = [
  'name',
  'description',
  'acceptance_criteria',
  'participants',
];

/** What an envelope changes, or why its sender may not change that. Membership is for admins (PC-10). */
export function changeOf(update: TaskUpdate, data: TaskData, { role }: Participant): TaskChange | string {
  const fields = Object.keys(update) as (keyof TaskUpdate)[];
  const closed = fields.filter((field) => !OPEN_FIELDS.includes(field));
  if (closed.length > 0) return `${closed.join(', ')} of a task cannot be changed by a message`;
  if (update.participants && !mayDo(role, 'roles')) {
    return `a ${role} may not change who is on the task; an admin may`;
  }
  const { name, description, acceptance_criteria: acceptanceCriteria } = update;
  return {
    kind: 'set',
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(acceptanceCriteria === undefined ? {} : { acceptanceCriteria }),
    ...(update.participants ? { participants: membersOf(update.participants, data) } : {}),
  };
}

/** The new members. Whoever works on the task stays on it, and nobody's kind changes (PC-1). */
function membersOf(
  given: NonNullable<TaskUpdate['participants']>,
  { participants }: TaskData,
): Participant[] {
  const members = given.map(({ id, kind, role, display_name }): Participant => {
    const known = participants.find((member) => member.id === id);
    return {
      id,
      kind: known?.kind ?? kind ?? 'human',
      role,
      displayName: display_name ?? known?.displayName ?? id,
    };
  });
  const workers = participants.filter(({ role, kind }) => role === 'assignee' && kind === 'agent');
  return [...members, ...workers.filter(({ id }) => !members.some((member) => member.id === id))];
}
