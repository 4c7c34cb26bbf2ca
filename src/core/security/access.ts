import { HarnessError } from '../base/index.ts';
import type { Participant, ParticipantRole, TaskData } from '../loop/index.ts';

/** What a participant may want to do with a task. */
export type TaskAction = 'read' | 'write' | 'cancel' | 'complete' | 'roles';

/** Who may do what (PC-10). This table is the only place that says so. */
const ALLOWED: Readonly<Record<TaskAction, readonly ParticipantRole[]>> = {
  read: ['assignee', 'reporter', 'watcher', 'admin'],
  write: ['assignee', 'reporter', 'admin'],
  cancel: ['assignee', 'reporter', 'admin'],
  complete: ['assignee', 'reporter', 'admin'],
  roles: ['admin'],
};

/** The caller's own entry among the participants of a task; undefined for a stranger. */
export function memberOf(data: TaskData, callerId: string): Participant | undefined {
  return data.participants.find((participant) => participant.id === callerId);
}

/** True when a role allows an action. */
export function mayDo(role: ParticipantRole, action: TaskAction): boolean {
  return ALLOWED[action].includes(role);
}

/**
 * The one way to a task: its member who calls. Not existing and not theirs are the same answer, by the same path (PC-10).
 *
 * @throws HarnessError `task.not_found`.
 */
export function assertMember(
  task: { readonly data: TaskData } | undefined,
  taskId: string,
  callerId: string,
): Participant {
  const member = task && memberOf(task.data, callerId);
  if (member === undefined || !mayDo(member.role, 'read')) {
    throw new HarnessError('task.not_found', `there is no task ${taskId}`);
  }
  return member;
}
