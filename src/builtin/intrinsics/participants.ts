import { HarnessError } from '../../core/base/index.ts';
import type { PlanStep, TaskData } from '../../core/loop/index.ts';

/**
 * Holds when a participant can be asked for something: a member of the task who does not do its work.
 *
 * @throws HarnessError `tool.invalid_arguments` naming those who can.
 */
export function assertAskable(data: TaskData, participantId: string): void {
  const others = data.participants.filter(({ role }) => role !== 'assignee').map(({ id }) => id);
  if (others.includes(participantId)) return;
  throw new HarnessError(
    'tool.invalid_arguments',
    `"${participantId}" cannot be asked; participants: ${others.join(', ')}`,
  );
}

/**
 * The step of the plan that a new task is to work on, by name or id.
 *
 * @throws HarnessError `plan.invalid`.
 */
export function stepOf(data: TaskData, step: string | undefined): { step?: string } {
  if (step === undefined) return {};
  const found: PlanStep | undefined = data.plan?.steps.find(({ id, name }) => id === step || name === step);
  if (found === undefined) throw new HarnessError('plan.invalid', `the plan has no step "${step}"`);
  return { step: found.id };
}
