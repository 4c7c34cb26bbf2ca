import { type Part, Role, type SendMessageRequest } from '@a2a-js/sdk';
import { MEDIA_TYPE } from '../../core/extensions/index.ts';

/** What a participant says: to a new task, to one that exists, or in answer to one of its questions. */
export interface Words {
  readonly text: string;
  readonly taskId?: string;
  /** The id of the question this answers; needs `taskId`. */
  readonly replyTo?: string;
}

/** The request that carries `words`; it has a message id of its own, under which it may be sent again. */
export function requestOf(words: Words, participant: string): SendMessageRequest {
  return {
    tenant: '',
    metadata: undefined,
    configuration: undefined,
    message: {
      messageId: crypto.randomUUID(),
      taskId: words.taskId ?? '',
      contextId: '',
      role: Role.ROLE_USER,
      parts: [partOf(words, participant)],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
  };
}

function partOf({ text, taskId, replyTo }: Words, sender: string): Part {
  const plain = { metadata: undefined, filename: '', mediaType: '' };
  if (replyTo === undefined || taskId === undefined) {
    return { ...plain, content: { $case: 'text', value: text } };
  }
  const reply = { channel_id: taskId, sender, kind: 'help_reply', text, parts: [], in_reply_to: replyTo };
  return { ...plain, content: { $case: 'data', value: reply }, mediaType: MEDIA_TYPE.channel };
}
