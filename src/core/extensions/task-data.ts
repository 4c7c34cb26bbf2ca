import { z } from 'zod';
import type { JsonObject } from '../base/index.ts';
import type { TaskData, TaskLink } from '../loop/index.ts';

const criterion = z.strictObject({ text: z.string().min(1), met: z.boolean().default(false) });

const participant = z.strictObject({
  id: z.string().min(1),
  kind: z.enum(['human', 'agent']).default('human'),
  role: z.enum(['assignee', 'reporter', 'watcher', 'admin']),
  display_name: z.string().optional(),
});

/**
 * What a participant may say of a new task in an envelope. The fields that are the server's own are accepted only
 * from trusted senders, which the caller of this schema decides.
 */
export const taskBrief = z.strictObject({
  name: z.string().min(1),
  goal: z.string().min(1),
  type: z.string().nullish(),
  description: z.string().default(''),
  acceptance_criteria: z.array(criterion).default([]),
  participants: z.array(participant).default([]),
  parent_tasks: z.array(z.unknown()).optional(),
  sub_tasks: z.array(z.unknown()).optional(),
  plan: z.unknown().optional(),
  lifecycle: z.enum(['conversation', 'delegated']).optional(),
  model: z.string().nullish(),
  reasoning_effort: z.enum(['low', 'medium', 'high']).nullish(),
});

export type TaskBrief = z.infer<typeof taskBrief>;

/** Fields of a brief that only the server and those it trusts may set. */
export const SERVER_FIELDS = [
  'parent_tasks',
  'sub_tasks',
  'plan',
  'lifecycle',
  'model',
  'reasoning_effort',
] as const;

/** Task data as it goes over the wire: every key, in snake case. */
export function encodeTaskData(data: TaskData): JsonObject {
  return {
    name: data.name,
    goal: data.goal,
    type: data.type,
    description: data.description,
    acceptance_criteria: data.acceptanceCriteria.map(({ text, met }) => ({ text, met })),
    participants: data.participants.map(({ id, kind, role, displayName }) => ({
      id,
      kind,
      role,
      display_name: displayName,
    })),
    parent_tasks: data.parentTasks.map(encodeLink),
    sub_tasks: data.subTasks.map(encodeLink),
    plan: data.plan && {
      steps: data.plan.steps.map((step) => ({
        id: step.id,
        name: step.name,
        description: step.description,
        depends_on: [...step.dependsOn],
        state: step.state,
        output: step.output,
        linked_tasks: [...step.linkedTasks],
      })),
    },
    lifecycle: data.lifecycle,
    model: data.model,
    reasoning_effort: data.reasoningEffort,
  };
}

function encodeLink(link: TaskLink): JsonObject {
  return {
    task_id: link.taskId,
    agent: link.agent && { kind: link.agent.kind, id: link.agent.id, version: link.agent.version },
    state: link.state,
    sub_state: link.subState,
  };
}
