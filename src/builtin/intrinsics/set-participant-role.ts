import { z } from 'zod';
import { HarnessError } from '../../core/base/index.ts';
import { mayDo, memberOf } from '../../core/security/index.ts';
import type { Intrinsic } from '../../core/tools/index.ts';
import { defineIntrinsic } from './define.ts';

/** `set_participant_role`: changes what a member is on the task, when one of its admins has asked for that (PC-8). */
export const setParticipantRoleIntrinsic: Intrinsic = defineIntrinsic({
  name: 'set_participant_role',
  description:
    'Change the role of a participant, when an admin of this task asks for it in the message you are answering. ' +
    'Nobody else may have a role changed.',
  input: z.strictObject({
    participant_id: z.string().min(1),
    role: z.enum(['assignee', 'reporter', 'watcher', 'admin']),
  }),
  apply({ participant_id: participantId, role }, { data, actors }) {
    const [actor, ...others] = actors;
    if (actor === undefined || others.length > 0) {
      const who = actor === undefined ? 'nobody asked for it' : `${actors.join(' and ')} wrote at once`;
      throw denied(`a role is changed only at the word of one admin, and ${who}; an admin has to ask alone`);
    }
    const asking = memberOf(data, actor);
    if (asking === undefined || !mayDo(asking.role, 'roles')) {
      throw denied(`${actor} is no admin of this task and may not change roles`);
    }
    const member = memberOf(data, participantId);
    if (member === undefined) {
      throw new HarnessError(
        'tool.invalid_arguments',
        `"${participantId}" is not on this task; participants: ${data.participants.map(({ id }) => id).join(', ')}`,
      );
    }
    return {
      kind: 'result',
      text: `${participantId} is now ${role} (was ${member.role}), as ${actor} asked`,
      change: { kind: 'role', participantId, role },
    };
  },
});

function denied(why: string): HarnessError {
  return new HarnessError('tool.denied', why);
}
