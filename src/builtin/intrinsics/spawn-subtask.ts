import { z } from 'zod';
import { HarnessError } from '../../core/base/index.ts';
import type { Intrinsic } from '../../core/tools/index.ts';
import { defineIntrinsic } from './define.ts';
import { stepOf } from './participants.ts';

/** `spawn_subtask`: makes a part of the work a task of its own, with a context of its own (ST-1). */
export const spawnSubtaskIntrinsic: Intrinsic = defineIntrinsic({
  name: 'spawn_subtask',
  description:
    'Hand a self-contained part of the work to a sub-task that runs on its own. It knows nothing of this conversation ' +
    'but what you write here. Its result comes to you when it ends; this task does not complete before.',
  operation: 'subtask.spawned',
  command: 'spawn',
  input: z.strictObject({
    name: z.string().min(1).describe('A short name of the part.'),
    goal: z.string().min(1).describe('What is to be reached, understandable on its own.'),
    description: z.string().default('').describe('Everything else the sub-task has to know.'),
    acceptance_criteria: z.array(z.string().min(1)).default([]).describe('When the part is done.'),
    agent: z.string().min(1).optional().describe('Which agent is to do it; leave it out for this one.'),
    step: z.string().min(1).optional().describe('Name or id of the step of the plan that this works on.'),
  }),
  apply(
    { name, goal, description, acceptance_criteria: acceptanceCriteria, agent, step },
    { data, agentId },
  ) {
    if (agent !== undefined && agent !== 'self' && agent !== agentId) {
      throw new HarnessError(
        'tool.invalid_arguments',
        `there is no agent "${agent}"; leave it out to use this one`,
      );
    }
    return {
      kind: 'command',
      request: { command: 'spawn', name, goal, description, acceptanceCriteria, ...stepOf(data, step) },
    };
  },
});
