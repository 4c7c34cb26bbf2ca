import type { Participant, Plan, TaskData } from '../loop/index.ts';

/** Who the agent is, for the system prompt. */
export interface AgentIdentity {
  readonly name: string;
  readonly description: string;
}

/**
 * The static part of the context: the same text for every turn of an epoch, on every worker (CW-2). `prompt` is the
 * markdown of the system prompt; its placeholders are filled, its sections kept.
 */
export function renderInstructions(
  prompt: string,
  agent: AgentIdentity,
  participants: readonly Participant[],
): string {
  const lines = [...participants]
    .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
    .map(
      (each) =>
        `- ${each.id}: ${each.role}, ${each.kind}${each.displayName === each.id ? '' : `, "${each.displayName}"`}`,
    );
  return prompt
    .replaceAll('{agent_name}', () => agent.name)
    .replaceAll('{agent_description}', () => agent.description)
    .replaceAll('{participants}', () => lines.join('\n'))
    .trim();
}

/** What stands beside a task's data in the context. */
export interface TaskNotes {
  /** ISO 8601, the day alone. */
  readonly date?: string;
  readonly openQuestions?: readonly string[];
}

/** The part of the context that is new for every turn: the task, its plan, what is open, the date (CW-2). */
export function renderTask(data: TaskData, { date, openQuestions = [] }: TaskNotes = {}): string {
  const lines = [`name: ${data.name}`, `goal: ${data.goal}`];
  if (data.description !== '') lines.push(`description: ${data.description}`);
  if (data.acceptanceCriteria.length > 0) {
    lines.push(
      'acceptance criteria:',
      ...data.acceptanceCriteria.map((each) => `- [${each.met ? 'x' : ' '}] ${each.text}`),
    );
  }
  if (data.plan) lines.push('plan:', ...planLines(data.plan));
  if (data.subTasks.length > 0) {
    lines.push(
      'sub-tasks:',
      ...data.subTasks.map((each) => `- ${each.taskId} (${each.state ?? 'starting'})`),
    );
  }
  if (openQuestions.length > 0) lines.push('still open:', ...openQuestions.map((text) => `- ${text}`));
  if (date !== undefined) lines.push(`date: ${date}`);
  return `<task>\n${lines.join('\n')}\n</task>`;
}

function planLines(plan: Plan): string[] {
  return plan.steps.map((step) => {
    const after = step.dependsOn.length === 0 ? '' : `, after ${step.dependsOn.join(', ')}`;
    const output = step.output === null ? '' : ` -> ${step.output}`;
    return `- ${step.id} (${step.state}${after}): ${step.description}${output}`;
  });
}
