import { costOf, type LlmResponse } from '../../../core/models/index.ts';
import type { TaskRow } from '../../../core/persistence/index.ts';
import type { ActivityDeps } from './deps.ts';

/** What answers of the model took (LP-3). */
export interface Spending {
  readonly tokens: number;
  /** Absent when the model has no price. */
  readonly cost?: number;
}

/** What one answer took. A provider may call the model by a longer name than the one it was asked for. */
export function spendingOn(
  deps: Pick<ActivityDeps, 'llm' | 'prices'>,
  task: TaskRow,
  { usage, model }: LlmResponse,
): Spending {
  const price = deps.prices.get(model) ?? deps.prices.get(task.data.model ?? deps.llm.model);
  const tokens = usage.input + usage.output;
  return price === undefined ? { tokens } : { tokens, cost: costOf(usage, price) };
}

export function sumOf(one: Spending, other: Spending): Spending {
  const tokens = one.tokens + other.tokens;
  const known = one.cost !== undefined || other.cost !== undefined;
  return known ? { tokens, cost: (one.cost ?? 0) + (other.cost ?? 0) } : { tokens };
}
