import { z } from 'zod';
import type { Intrinsic } from '../../core/tools/index.ts';
import { defineIntrinsic } from './define.ts';
import { assertAskable } from './participants.ts';

const input = z.strictObject({
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
  command: 'help',
  input,
  apply({ participant_id: participantId, question, options, expires_in: expiresInSeconds }, { data }) {
    assertAskable(data, participantId);
    return {
      kind: 'command',
      request: {
        command: 'help',
        route: 'ask',
        participantId,
        question,
        options,
        name: '',
        goal: '',
        acceptanceCriteria: [],
        ...(expiresInSeconds ? { expiresInSeconds } : {}),
      },
    };
  },
});
