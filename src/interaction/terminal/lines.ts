import type { Ending, Step } from '../client/index.ts';
import { inertLine } from './inert.ts';

const BOX: Readonly<Record<Step['state'], string>> = {
  pending: '[ ]',
  active: '[~]',
  done: '[x]',
  failed: '[!]',
};

/** A step as a line: its box, its name, what it waits for while it is not done, and what came of it. */
export function planLine(step: Step): string {
  const waits = step.state === 'pending' && step.dependsOn.length > 0;
  const after = waits ? `  (after ${step.dependsOn.map(inertLine).join(', ')})` : '';
  const output = step.output === null || step.output === '' ? '' : `: ${inertLine(step.output)}`;
  return `${BOX[step.state]} ${inertLine(step.name)}${after}${output}`;
}

/** `INPUT_REQUIRED (awaiting-answer)`. */
export function stateWords({ state, subState }: Pick<Ending, 'state' | 'subState'>): string {
  return subState === null ? state : `${state} (${inertLine(subState)})`;
}
