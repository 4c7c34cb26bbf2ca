import { z } from 'zod';
import type { JsonObject } from '../base/index.ts';
import type { Plan, TaskData, TaskLink, TaskState } from '../loop/index.ts';

const TASK_STATES = [
  'SUBMITTED',
  'WORKING',
  'INPUT_REQUIRED',
  'AUTH_REQUIRED',
  'COMPLETED',
  'FAILED',
  'CANCELED',
  'REJECTED',
] as const satisfies readonly TaskState[];

const criterion = z.strictObject({ text: z.string().min(1), met: z.boolean().default(false) });

/** A name that the model reads on a line of its own: it has no other lines to add. */
const nameText = z
  .string()
  .max(256)
  .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, 'contains control characters');

/** The id of a participant (PC-1). */
export const participantId = nameText.min(1);

const participant = z.strictObject({
  id: participantId,
  /** Left out: what is known of them, else what they say of themselves (PC-1). */
  kind: z.enum(['human', 'agent']).optional(),
  role: z.enum(['assignee', 'reporter', 'watcher', 'admin']),
  display_name: nameText.optional(),
});

const participants = z
  .array(participant)
  .max(100)
  .refine((list) => new Set(list.map(({ id }) => id)).size === list.length, 'names a participant twice');

const link = z.strictObject({
  task_id: z.string().min(1),
  agent: z
    .strictObject({
      kind: z.literal('agent'),
      id: z.string().min(1),
      version: z.string().nullable().default(null),
    })
    .nullable()
    .default(null),
  state: z.enum(TASK_STATES).nullable().default(null),
  sub_state: z.enum(['awaiting-next-message', 'awaiting-answer']).nullable().default(null),
});

const plan = z.strictObject({
  steps: z.array(
    z.strictObject({
      id: z.string().min(1),
      name: z.string().min(1),
      description: z.string().default(''),
      depends_on: z.array(z.string()).default([]),
      state: z.enum(['pending', 'active', 'done', 'failed']).default('pending'),
      output: z.string().nullable().default(null),
      linked_tasks: z.array(z.string()).default([]),
    }),
  ),
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
  participants: participants.default([]),
  parent_tasks: z.array(link).optional(),
  sub_tasks: z.array(link).optional(),
  plan: plan.nullish(),
  lifecycle: z.enum(['conversation', 'delegated']).optional(),
  model: z.string().nullish(),
  reasoning_effort: z.enum(['low', 'medium', 'high']).nullish(),
});

export type TaskBrief = z.infer<typeof taskBrief>;

/** What an envelope on an existing task may name. Which of it may change, and by whom, admission decides. */
export const taskUpdate = z.strictObject({
  ...taskBrief.partial().shape,
  description: z.string().optional(),
  acceptance_criteria: z.array(criterion).optional(),
  participants: participants.optional(),
});

export type TaskUpdate = z.infer<typeof taskUpdate>;

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

/** Links of a brief, as the task keeps them. */
export function decodeLinks(links: TaskBrief['parent_tasks']): readonly TaskLink[] {
  return (links ?? []).map(({ task_id, sub_state, ...rest }) => ({
    taskId: task_id,
    subState: sub_state,
    ...rest,
  }));
}

/** The plan of a brief, as the task keeps it. */
export function decodePlan(given: TaskBrief['plan']): Plan | null {
  if (!given) return null;
  return {
    steps: given.steps.map(({ depends_on, linked_tasks, ...step }) => ({
      ...step,
      dependsOn: depends_on,
      linkedTasks: linked_tasks,
    })),
  };
}
