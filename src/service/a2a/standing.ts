import { messageId } from '../../core/extensions/index.ts';
import type { SubState, TaskState } from '../../core/loop/index.ts';
import type { LogEntry } from '../../core/persistence/index.ts';

/** How a task stands at a place of its log: what updates say of it that change something else (SF-6). */
export interface Standing {
  readonly state: TaskState;
  readonly subState: SubState | null;
  /** Ids of the questions that are open. */
  readonly questions: readonly string[];
  readonly tokens: number | null;
  readonly cost: number | null;
}

export const SUBMITTED: Standing = {
  state: 'SUBMITTED',
  subState: null,
  questions: [],
  tokens: null,
  cost: null,
};

/** How the task stands after an entry. */
export function after(standing: Standing, taskId: string, { seq, body }: LogEntry): Standing {
  switch (body.kind) {
    case 'state': {
      const { state, subState, questions, tokens = standing.tokens, cost = standing.cost } = body;
      return { state, subState, questions, tokens, cost };
    }
    case 'turn':
      return { ...standing, questions: body.questions, tokens: body.tokens, cost: body.cost ?? null };
    case 'question':
      return { ...standing, questions: [...standing.questions, messageId.help(taskId, seq)] };
    default:
      return standing;
  }
}
