import {
  type Command,
  type CommandContext,
  defineCommand,
  type WaitingQuestion,
} from '../../core/commands/index.ts';
import type { Plan, PlanStep, StepState, TaskLink } from '../../core/loop/index.ts';
import { eitherOf } from './text.ts';

const BOX: Readonly<Record<StepState, string>> = {
  pending: '[ ]',
  active: '[~]',
  done: '[x]',
  failed: '[!]',
};

/** `/status`: the state, why the task waits, its plan, who is asked what, its sub-tasks. */
export const statusCommand: Command = defineCommand({
  name: 'status',
  description: 'Show where the task stands, and what it waits for.',
  needs: 'look',
  run(_, context) {
    const { data, waiting } = context;
    return {
      text: [
        data.name,
        stateLine(context),
        ...planLines(data.plan),
        ...section('asked:', waiting.map(questionText)),
        ...section('sub-tasks:', data.subTasks.map(subTaskLine)),
      ].join('\n'),
    };
  },
});

function stateLine({ state, subState, data }: CommandContext): string {
  if (state !== 'INPUT_REQUIRED') return state;
  if (subState === 'awaiting-answer') return `${state}: waits for an answer`;
  if (subState === 'awaiting-next-message') return `${state}: waits for the next message`;
  const worker = data.participants.find(({ role, kind }) => role === 'assignee' && kind === 'human');
  return worker === undefined ? `${state}: waits for input` : `${state}: waits for ${worker.id} to do it`;
}

function planLines(plan: Plan | null): string[] {
  if (plan === null) return [];
  const done = plan.steps.filter(({ state }) => state === 'done').length;
  return section(`plan, ${done} of ${plan.steps.length} steps done:`, plan.steps.map(stepLine));
}

function stepLine({ name, state, dependsOn }: PlanStep): string {
  const after = state === 'pending' && dependsOn.length > 0 ? `  (after ${dependsOn.join(', ')})` : '';
  return `${BOX[state]} ${name}${after}`;
}

function questionText({ participantIds, text, expiresAt, approval }: WaitingQuestion): string {
  const until = expiresAt === null ? '' : ` (until ${expiresAt})`;
  const what = approval === null ? text : `may ${approval.tool} run? See /approvals`;
  return `${eitherOf(participantIds)}${until}: ${what}`;
}

function subTaskLine({ taskId, agent, state, subState }: TaskLink): string {
  const where = agent === null ? '' : ` at ${agent.id}`;
  const why = subState === null ? '' : ` (${subState})`;
  return `${taskId}${where}: ${state ?? 'not heard of yet'}${why}`;
}

/** Further lines of an entry stand deeper: no question can pass for another entry. */
function section(title: string, entries: readonly string[]): string[] {
  return entries.length === 0
    ? []
    : [title, ...entries.map((entry) => `  ${entry.replaceAll('\n', '\n    ')}`)];
}
