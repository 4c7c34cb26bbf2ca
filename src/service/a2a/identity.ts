import { HarnessError } from '../../core/base/index.ts';
import { invalid, type ParsedSend } from './parse-message.ts';

/** Set by the perimeter in front of the harness. */
export const PARTICIPANT_HEADER = 'x-participant-id';

export interface IdentityOptions {
  /** The agent's own id, which no caller may have. */
  readonly agentId: string;
  /** Who a caller without a header is (`server.default_participant`); absent: nobody. */
  readonly defaultParticipant?: string;
}

/**
 * Who is asking, for an operation on a task (PC-9), or on all of them. Nobody: the task is not found.
 *
 * @throws HarnessError `task.not_found`, or `input.invalid` for the agent's own id.
 */
export function callerOf(header: string | null, options: IdentityOptions, taskId?: string): string {
  const caller = header || options.defaultParticipant;
  if (!caller) {
    const message =
      taskId === undefined
        ? `there are no tasks of nobody; send the ${PARTICIPANT_HEADER} header`
        : `there is no task ${taskId}`;
    throw new HarnessError('task.not_found', message);
  }
  return notTheAgent(caller, options);
}

/**
 * Who sent a message (PC-9): the header; only for a first message, without a header, what the message itself claims.
 *
 * @throws HarnessError `input.invalid` (nobody, two names, the agent's own id), `task.not_found`.
 */
export function senderOf(header: string | null, send: ParsedSend, options: IdentityOptions): string {
  const { claim, request } = send;
  if (header && claim !== undefined && claim !== header) {
    throw invalid(
      'message.metadata.participant_id',
      `names "${claim}", the ${PARTICIPANT_HEADER} header "${header}"`,
    );
  }
  if (request.taskId !== undefined) return callerOf(header, options, request.taskId);
  const sender = header || claim || options.defaultParticipant;
  if (!sender) {
    throw invalid(
      'message.metadata.participant_id',
      `no participant is named; send the ${PARTICIPANT_HEADER} header, or set server.default_participant`,
    );
  }
  return notTheAgent(sender, options);
}

function notTheAgent(id: string, { agentId }: IdentityOptions): string {
  if (id !== agentId) return id;
  throw invalid(
    'participant',
    `"${id}" is the id of this agent; give the agent another id with agent.id, or the caller another participant id`,
  );
}
