import { z } from 'zod';
import type { AbortSignalLike, JsonObject } from '../../../core/base/index.ts';
import { messageOf } from '../../../core/base/index.ts';
import type { HelpDecision } from '../../../core/hooks/index.ts';
import type { TaskData } from '../../../core/loop/index.ts';
import { invokeLlm, type LlmRequest } from '../../../core/models/index.ts';
import type { TaskRow } from '../../../core/persistence/index.ts';
import { HELP_INSTRUCTIONS, renderHelpRequest } from '../../../core/prompts/index.ts';
import type { ActivityDeps } from './deps.ts';
import { type Spending, spendingOn, sumOf } from './spending.ts';

/** What the model answers. */
const answer = z.object({
  route: z.enum(['ask', 'create_task']),
  participant_id: z.string().min(1),
  question: z.string().default(''),
  options: z.array(z.string()).default([]),
  name: z.string().default(''),
  goal: z.string().default(''),
  acceptance_criteria: z.array(z.string()).default([]),
  reason: z.string().default(''),
});

const { $schema: _, ...ANSWER_SCHEMA } = z.toJSONSchema(answer);

/** How often the model is asked: once, and once more with what was wrong (PC-7). */
const TRIES = 2;

/**
 * The default body of `help.decided`: the model decides between asking and creating a task, knowing the task and the
 * proposal. A decision that does not hold is asked for again with the objection; after that the participant is asked, and
 * the record says so.
 */
export async function decideHelp(
  deps: ActivityDeps,
  task: TaskRow,
  proposal: HelpDecision,
  signal: AbortSignalLike,
): Promise<{ readonly decision: HelpDecision; readonly spent: Spending }> {
  let spent: Spending = { tokens: 0 };
  let objection: string | undefined;
  for (let tried = 0; tried < TRIES; tried += 1) {
    const response = await invokeLlm(deps.llm, requestOf(task, proposal, objection), signal);
    spent = sumOf(spent, spendingOn(deps, task, response));
    const read = readDecision(response.text);
    objection = typeof read === 'string' ? read : objectionTo(read, task.data);
    if (objection === undefined && typeof read !== 'string') return { decision: read, spent };
  }
  const reason = `the decision did not hold (${objection ?? 'no answer'}), so the participant is asked`;
  return { decision: asking(proposal, reason), spent };
}

/** Why a decision cannot be carried out: the member, or what its route needs. */
export function objectionTo(decision: HelpDecision, data: TaskData): string | undefined {
  const member = data.participants.find(({ id }) => id === decision.participantId);
  if (member === undefined || member.role === 'assignee') {
    const others = data.participants.filter(({ role }) => role !== 'assignee').map(({ id }) => id);
    return `"${decision.participantId}" is no participant that can be asked; participants: ${others.join(', ')}`;
  }
  if (decision.route === 'ask') {
    return decision.question.trim() === '' ? 'the route "ask" needs a question' : undefined;
  }
  if (member.kind === 'agent') return `"${member.id}" is an agent; a task can be created for a person only`;
  if (decision.name.trim() === '' || decision.goal.trim() === '') {
    return 'the route "create_task" needs a name and a goal';
  }
  return decision.acceptanceCriteria.length === 0
    ? 'the route "create_task" needs acceptance criteria'
    : undefined;
}

function requestOf(task: TaskRow, proposal: HelpDecision, objection: string | undefined): LlmRequest {
  const model = task.data.model;
  return {
    instructions: HELP_INSTRUCTIONS,
    input: [{ type: 'user', text: renderHelpRequest(task.data, proposal, objection) }],
    tools: [],
    output: { name: 'help_decision', schema: ANSWER_SCHEMA as unknown as JsonObject },
    cacheKey: task.id,
    ...(model === null ? {} : { model }),
  };
}

/** The decision in an answer, or what is wrong with it. */
function readDecision(text: string): HelpDecision | string {
  const json = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  try {
    const read = answer.parse(JSON.parse(json));
    const { participant_id: participantId, acceptance_criteria: acceptanceCriteria, ...rest } = read;
    return { participantId, acceptanceCriteria, ...rest };
  } catch (error) {
    return error instanceof z.ZodError
      ? z.prettifyError(error)
      : `the answer is no JSON: ${messageOf(error)}`;
  }
}

/** Fails closed: whatever was proposed, the participant is asked. */
function asking(proposal: HelpDecision, reason: string): HelpDecision {
  const { participantId, options, name, goal } = proposal;
  const question = proposal.question.trim() === '' ? `${name}: ${goal}` : proposal.question;
  return {
    route: 'ask',
    participantId,
    question,
    options,
    name: '',
    goal: '',
    acceptanceCriteria: [],
    reason,
  };
}
