import type { TaskData } from '../loop/index.ts';
import { renderTask } from './context.ts';

/** How a participant is to be reached, as it was proposed. */
export interface ProposedHelp {
  readonly route: 'ask' | 'create_task';
  readonly participantId: string;
  readonly question: string;
  readonly options: readonly string[];
  readonly name: string;
  readonly goal: string;
  readonly acceptanceCriteria: readonly string[];
}

/** What the model is told that decides between a question and a task (PC-7). */
export const HELP_INSTRUCTIONS = `An agent needs help from a participant of its task. Decide how the participant is reached:
- "ask": one message of input is enough, such as a fact, a choice or a confirmation. Give the question, and options when it is a choice.
- "create_task": they have to do real work of their own. Give a name, a goal and acceptance criteria.
The agent's proposal is in the request. Keep it unless it is clearly the wrong way, and keep its words where they serve.
Answer with one JSON object and nothing else:
{"route": "ask" or "create_task", "participant_id": "...", "question": "...", "options": [], "name": "...", "goal": "...", "acceptance_criteria": [], "reason": "one sentence"}
Leave empty what the route does not need.`;

/** The task, its participants and the proposal; with what was wrong with an earlier decision, if there was one. */
export function renderHelpRequest(
  data: TaskData,
  proposal: ProposedHelp,
  objection: string | undefined,
): string {
  const proposed = {
    route: proposal.route,
    participant_id: proposal.participantId,
    question: proposal.question,
    options: proposal.options,
    name: proposal.name,
    goal: proposal.goal,
    acceptance_criteria: proposal.acceptanceCriteria,
  };
  const participants = data.participants.map(({ id, role, kind }) => `- ${id}: ${role}, ${kind}`);
  const lines = [
    renderTask(data),
    `participants:\n${participants.join('\n')}`,
    `proposal:\n${JSON.stringify(proposed)}`,
  ];
  if (objection !== undefined) lines.push(`Your last decision did not hold: ${objection}. Decide again.`);
  return lines.join('\n\n');
}
