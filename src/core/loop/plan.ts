import { HarnessError } from '../base/index.ts';
import type { Plan, PlanStep } from './task.ts';

/** A step as the model writes it in `create_plan`. */
export interface PlannedStep {
  readonly name: string;
  readonly description: string;
  /** Names or ids of other steps. */
  readonly dependsOn: readonly string[];
}

/** The id of a step: its name in lower case, with `-` between the words. */
function stepId(name: string): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '');
  return slug === '' ? 'step' : slug;
}

/**
 * The plan that `steps` describe, keeping what `previous` has finished (PN-1).
 *
 * @throws HarnessError `plan.invalid` for a duplicate name, a dependency that names no step, or a cycle.
 */
export function createPlan(steps: readonly PlannedStep[], previous: Plan | null): Plan {
  const finished = new Map(
    (previous?.steps ?? []).filter((step) => step.state === 'done').map((step) => [step.id, step]),
  );
  const planned = steps.map((step): PlanStep => {
    const id = stepId(step.name);
    return (
      finished.get(id) ?? {
        id,
        name: step.name,
        description: step.description,
        dependsOn: step.dependsOn.map(stepId),
        state: 'pending',
        output: null,
        linkedTasks: [],
      }
    );
  });
  const ids = new Set<string>();
  for (const step of planned) {
    if (ids.has(step.id)) throw invalid(`two steps have the id "${step.id}"; give each step its own name`);
    ids.add(step.id);
  }
  const kept = [...finished.values()].filter((step) => !ids.has(step.id));
  const all = [...kept, ...planned];
  assertGraph(all);
  return { steps: all };
}

/**
 * The plan with one step done and its output recorded.
 *
 * @throws HarnessError `plan.invalid` when there is no such step or it is done already.
 */
export function completeStep(plan: Plan | null, nameOrId: string, output: string): Plan {
  const id = stepId(nameOrId);
  const step = plan?.steps.find((candidate) => candidate.id === id);
  if (plan === null || step === undefined) {
    const known = plan?.steps.map((candidate) => candidate.id).join(', ') ?? '';
    throw invalid(
      known === ''
        ? 'there is no plan yet; call create_plan first'
        : `no step "${nameOrId}"; steps: ${known}`,
    );
  }
  if (step.state === 'done') throw invalid(`step "${id}" is done already`);
  return { steps: plan.steps.map((each) => (each.id === id ? { ...each, state: 'done', output } : each)) };
}

function assertGraph(steps: readonly PlanStep[]): void {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const done = new Set<string>();
  const visit = (step: PlanStep, path: readonly string[]): void => {
    if (done.has(step.id)) return;
    if (path.includes(step.id)) throw invalid(`the steps form a cycle: ${[...path, step.id].join(' -> ')}`);
    for (const id of step.dependsOn) {
      const before = byId.get(id);
      if (before === undefined)
        throw invalid(`step "${step.id}" depends on "${id}", which is no step of the plan`);
      visit(before, [...path, step.id]);
    }
    done.add(step.id);
  };
  for (const step of steps) visit(step, []);
}

function invalid(message: string): HarnessError {
  return new HarnessError('plan.invalid', message);
}
