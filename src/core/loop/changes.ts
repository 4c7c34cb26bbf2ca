import type { ReasoningEffort } from '../models/index.ts';
import type { AcceptanceCriterion, Participant, ParticipantRole, Plan, TaskData, TaskLink } from './task.ts';

/**
 * A change of a task's data. Changes are applied by the store to the data as it is then, so that two writers who change
 * different things do not undo each other.
 */
export type TaskChange =
  | {
      readonly kind: 'set';
      readonly name?: string;
      readonly description?: string;
      readonly acceptanceCriteria?: readonly AcceptanceCriterion[];
      readonly participants?: readonly Participant[];
      readonly plan?: Plan;
      readonly model?: string | null;
      readonly reasoningEffort?: ReasoningEffort | null;
    }
  /** Adds a sub-task, or replaces what is known of it; `step` is the id of the plan's step that it works on. */
  | { readonly kind: 'sub_task'; readonly link: TaskLink; readonly step?: string }
  | { readonly kind: 'role'; readonly participantId: string; readonly role: ParticipantRole };

/** The data after a change. */
export function applyChange(data: TaskData, change: TaskChange): TaskData {
  switch (change.kind) {
    case 'set': {
      const { kind: _, ...set } = change;
      return { ...data, ...set };
    }
    case 'sub_task': {
      const { link, step } = change;
      const known = data.subTasks.find((each) => each.taskId === link.taskId);
      // The link itself is made once; what was heard of the sub-task before that stands.
      const latest = known && link.state === null ? known : link;
      const subTasks = known
        ? data.subTasks.map((each) => (each === known ? latest : each))
        : [...data.subTasks, link];
      const plan = step === undefined ? data.plan : linked(data.plan, step, link.taskId);
      return { ...data, subTasks, plan };
    }
    case 'role':
      return {
        ...data,
        participants: data.participants.map((each) =>
          each.id === change.participantId ? { ...each, role: change.role } : each,
        ),
      };
  }
}

/** The data after changes, in their order. */
export function applyChanges(data: TaskData, changes: readonly TaskChange[]): TaskData {
  return changes.reduce(applyChange, data);
}

function linked(plan: Plan | null, step: string, taskId: string): Plan | null {
  return (
    plan && {
      steps: plan.steps.map((each) =>
        each.id === step && !each.linkedTasks.includes(taskId)
          ? { ...each, linkedTasks: [...each.linkedTasks, taskId] }
          : each,
      ),
    }
  );
}
