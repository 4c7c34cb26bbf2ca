import { z } from 'zod';
import type { JsonObject } from '../base/index.ts';
import type { QuestionRecord } from '../persistence/index.ts';
import { MEDIA_TYPE } from './identifiers.ts';

const channelPart = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), text: z.string(), media_type: z.string().optional() }),
  z.strictObject({ kind: z.literal('data'), data: z.unknown(), media_type: z.string().optional() }),
]);

/** A channel message (PC-2): the data of a part with the channel media type. */
export const channelMessage = z.strictObject({
  channel_id: z.string().min(1).max(256),
  sender: z.string().min(1).max(256),
  kind: z.enum(['message', 'help_request', 'help_reply']),
  text: z.string().default(''),
  parts: z.array(channelPart).default([]),
  in_reply_to: z.string().min(1).max(256).nullish(),
});

export type ChannelMessage = z.infer<typeof channelMessage>;

/** What a decision about a call says (PC-12): the data of a part in a `help_reply`. */
export const approvalPart = z.strictObject({
  decision: z.enum(['approve', 'deny']),
  remember: z.boolean().default(false),
  call_id: z.string().min(1).max(256),
  arguments_hash: z.string().min(1).max(256),
});

/** A question as the channel part that carries it. */
export function encodeQuestion(
  taskId: string,
  agentId: string,
  id: string,
  question: QuestionRecord,
): JsonObject {
  return {
    channel_id: taskId,
    sender: agentId,
    kind: 'help_request',
    text: question.text,
    parts: questionParts(id, question),
  };
}

function questionParts(
  id: string,
  { participantIds, options, expiresAt, approval }: QuestionRecord,
): JsonObject[] {
  const question = {
    kind: 'data',
    media_type: MEDIA_TYPE.question,
    data: {
      question_id: id,
      participant_id: participantIds[0] ?? null,
      options: [...options],
      expires_at: expiresAt,
    },
  };
  if (approval === undefined) return [question];
  const call = {
    kind: 'data',
    media_type: MEDIA_TYPE.approval,
    data: {
      call_id: approval.callId,
      tool: approval.tool,
      arguments: approval.arguments,
      arguments_hash: approval.argumentsHash,
      approvers: [...participantIds],
    },
  };
  return [question, call];
}

/** A question as people read it: its text, and its options on a line of their own. */
export function questionText(question: QuestionRecord): string {
  return question.options.length === 0
    ? question.text
    : `${question.text}\nOptions: ${question.options.join(', ')}`;
}
