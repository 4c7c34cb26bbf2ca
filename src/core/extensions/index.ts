/**
 * The A2A extensions of tiny-harness: identifiers, and one codec each between the wire's snake case and our types.
 * Knows nothing of HTTP or the A2A SDK.
 */
export {
  approvalPart,
  type ChannelMessage,
  channelMessage,
  encodeQuestion,
  questionText,
} from './channel.ts';
export { type Envelope, envelope, type LaterEnvelope, laterEnvelope } from './envelope.ts';
export { EXTENSION, MEDIA_TYPE, METADATA, messageId, questionSeq } from './identifiers.ts';
export { textOf } from './message-text.ts';
export { readQuestion } from './read-question.ts';
export {
  decodeLinks,
  decodePlan,
  encodeTaskData,
  participantId,
  SERVER_FIELDS,
  type TaskBrief,
  type TaskUpdate,
} from './task-data.ts';
