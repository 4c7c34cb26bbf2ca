import { HarnessError } from '../../core/base/index.ts';
import type { InboundRequest } from '../../core/channels/index.ts';
import { decodeLinks, decodePlan, SERVER_FIELDS, type TaskBrief } from '../../core/extensions/index.ts';
import { nameOf, type Participant, type TaskData } from '../../core/loop/index.ts';

/**
 * The data of the task a first message opens: its brief, else its text as the goal (TK-2). The sender is on it, and so
 * is the agent.
 *
 * @throws HarnessError `input.unsupported` when the brief sets what only the server and those it trusts may set.
 */
export function newTaskData(
  request: InboundRequest,
  agentId: string,
  delegators: readonly string[],
): TaskData {
  const { brief } = request;
  if (brief && !delegators.includes(request.sender)) assertNoServerFields(brief);
  const goal = brief?.goal ?? request.text;
  return {
    name: brief?.name ?? nameOf(goal),
    goal,
    type: brief?.type ?? null,
    description: brief?.description ?? '',
    acceptanceCriteria: brief?.acceptance_criteria ?? [],
    participants: membersOf(request, agentId),
    parentTasks: decodeLinks(brief?.parent_tasks),
    subTasks: decodeLinks(brief?.sub_tasks),
    plan: decodePlan(brief?.plan),
    lifecycle: brief?.lifecycle ?? 'conversation',
    model: brief?.model ?? null,
    reasoningEffort: brief?.reasoning_effort ?? null,
  };
}

function assertNoServerFields(brief: TaskBrief): void {
  const set = SERVER_FIELDS.filter((field) => {
    const value = brief[field];
    return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
  });
  if (set.length === 0) return;
  throw new HarnessError(
    'input.unsupported',
    `${set.join(', ')} of a task may be set only by participants listed in server.delegators`,
  );
}

function membersOf(request: InboundRequest, agentId: string): Participant[] {
  const kindOf = (id: string) => (id === request.sender ? request.senderKind : 'human');
  const members: Participant[] = (request.brief?.participants ?? []).map((each) => ({
    id: each.id,
    kind: each.id === agentId ? 'agent' : (each.kind ?? kindOf(each.id)),
    role: each.role,
    displayName: each.display_name ?? each.id,
  }));
  const ensure = (participant: Participant) => {
    if (!members.some((member) => member.id === participant.id)) members.push(participant);
  };
  ensure({ id: request.sender, kind: request.senderKind, role: 'reporter', displayName: request.sender });
  ensure({ id: agentId, kind: 'agent', role: 'assignee', displayName: agentId });
  return members;
}
