import { z } from 'zod';
import { HarnessError } from '../../core/base/index.ts';
import type { Intrinsic } from '../../core/tools/intrinsic.ts';
import { defineIntrinsic } from './define.ts';

/** The arguments of `ask_participant`, as the activity that asks reads them again. */
export const askParticipantArguments = z.strictObject({
  participant_id: z.string().min(1).describe('Who to ask: the id of a participant of this task.'),
  question: z.string().min(1).describe('One question, understandable on its own.'),
  options: z
    .array(z.string().min(1))
    .default([])
    .describe('Answers to choose from, if the answer is a choice.'),
  expires_in: z
    .number()
    .positive()
    .optional()
    .describe('Seconds to wait for the answer; leave it out to wait as long as it takes.'),
});

/** `ask_participant`: asks one person one question and waits for the answer (PC-4). */
export const askParticipantIntrinsic: Intrinsic = defineIntrinsic({
  name: 'ask_participant',
  description:
    'Ask a participant of this task for one message of input and wait for the answer. The answer comes as a message ' +
    'of that participant; never answer for them.',
  operation: 'help.requested',
  input: askParticipantArguments,
  apply({ participant_id: id }, { data }) {
    const member = data.participants.find((participant) => participant.id === id);
    if (member === undefined || member.role === 'assignee') {
      const others = data.participants
        .filter((participant) => participant.role !== 'assignee')
        .map(({ id: other }) => other);
      throw new HarnessError(
        'tool.invalid_arguments',
        `"${id}" cannot be asked; participants: ${others.join(', ')}`,
      );
    }
    return { kind: 'command', command: 'ask_participant' };
  },
});
