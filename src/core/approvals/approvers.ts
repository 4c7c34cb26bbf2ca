import type { ParticipantRole, TaskData } from '../loop/index.ts';
import type { ApprovalRule } from './policy.ts';

/** The roles whose people may approve. */
export const APPROVER_ROLES = ['admin', 'reporter', 'assignee'] as const satisfies ParticipantRole[];

export type ApproverRole = (typeof APPROVER_ROLES)[number];

/** How calls are approved (PC-12). */
export interface ApprovalSettings {
  /** The first that matches a call decides. */
  readonly rules: readonly ApprovalRule[];
  /** Whose people are asked, the first choice first. */
  readonly approvers: readonly ApproverRole[];
  /** How long a call waits before it is denied; absent: as long as it takes. */
  readonly deadlineMs?: number;
}

/**
 * Ids of the people who may approve: those who have the first of the roles that any person has. Agents never do; with
 * nobody left the list is empty.
 */
export function approversOf(
  { participants }: Pick<TaskData, 'participants'>,
  roles: readonly ApproverRole[],
): readonly string[] {
  const people = participants.filter(({ kind }) => kind === 'human');
  const first = roles.find((role) => people.some((person) => person.role === role));
  return people.filter(({ role }) => role === first).map(({ id }) => id);
}
