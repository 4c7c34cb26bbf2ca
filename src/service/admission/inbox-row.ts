import type { InboundRequest } from '../../core/channels/index.ts';
import type { MailItem, Participant, TaskData } from '../../core/loop/index.ts';
import type { InboxRow } from '../../core/persistence/index.ts';
import { memberOf } from '../../core/security/index.ts';

/** A message as it is stored, with what the loop will be told of it. */
export function rowOf(
  request: InboundRequest,
  taskId: string,
  key: string,
  data: TaskData,
): Omit<InboxRow, 'receivedAt' | 'consumed'> {
  const { sender, messageId, bodyHash, message } = request;
  // PC-1: the task's data says what somebody is; a message cannot turn an agent into a human.
  const member = memberOf(data, sender) ?? { kind: request.senderKind, role: 'watcher' as const };
  const mail = mailOf(request, key, member);
  return { key, taskId, sender, senderKind: member.kind, messageId, bodyHash, message, mail };
}

function mailOf(request: InboundRequest, key: string, member: Pick<Participant, 'role' | 'kind'>): MailItem {
  const { sender, messageId, control, conversation, interrupt, channel, verdict } = request;
  return {
    key,
    messageId,
    sender,
    role: member.role,
    kind: member.kind,
    ...(verdict ? { verdict } : {}),
    ...(interrupt ? { interrupt } : {}),
    ...(control === undefined ? {} : { control }),
    ...(conversation === undefined ? {} : { conversation }),
    ...(channel?.inReplyTo === undefined ? {} : { inReplyTo: channel.inReplyTo }),
  };
}
