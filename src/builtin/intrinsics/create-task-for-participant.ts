import { z } from 'zod';
import type { Intrinsic } from '../../core/tools/index.ts';
import { defineIntrinsic } from './define.ts';
import { assertAskable, stepOf } from './participants.ts';

/** `create_task_for_participant`: gives a person a piece of work as a task of their own (PC-6). */
export const createTaskForParticipantIntrinsic: Intrinsic = defineIntrinsic({
  name: 'create_task_for_participant',
  description:
    'Give a participant a piece of real work as a task of their own, when one answer is not enough. They complete it ' +
    'with a message; what they did comes to you when they have. Go on with other work meanwhile.',
  operation: 'help.requested',
  command: 'help',
  input: z.strictObject({
    participant_id: z.string().min(1).describe('Who is to do it: the id of a participant of this task.'),
    name: z.string().min(1).describe('A short name of the work.'),
    goal: z.string().min(1).describe('What is to be reached, understandable on its own.'),
    acceptance_criteria: z.array(z.string().min(1)).default([]).describe('When the work is done.'),
    step: z.string().min(1).optional().describe('Name or id of the step of the plan that this works on.'),
  }),
  apply(
    { participant_id: participantId, name, goal, acceptance_criteria: acceptanceCriteria, step },
    { data },
  ) {
    assertAskable(data, participantId);
    return {
      kind: 'command',
      request: {
        command: 'help',
        route: 'create_task',
        participantId,
        question: '',
        options: [],
        name,
        goal,
        acceptanceCriteria,
        ...stepOf(data, step),
      },
    };
  },
});
