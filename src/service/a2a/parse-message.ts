import { createHash } from 'node:crypto';
import { z } from 'zod';
import { choiceOf } from '../../core/approvals/index.ts';
import { canonicalJson, HarnessError, type JsonObject, type JsonValue } from '../../core/base/index.ts';
import type { InboundRequest } from '../../core/channels/index.ts';
import {
  approvalPart,
  type ChannelMessage,
  channelMessage,
  type Envelope,
  envelope,
  type LaterEnvelope,
  laterEnvelope,
  MEDIA_TYPE,
  participantId,
  textOf,
} from '../../core/extensions/index.ts';
import type { InboundMessage, PartRecord } from '../../core/persistence/index.ts';

const json = z.record(z.string(), z.json());
/** Protobuf's JSON writes an absent string as an empty one. */
const optionalId = z
  .string()
  .max(256)
  .nullish()
  .transform((value) => (value ? value : undefined));

export const historyLength = z.number().int().nonnegative().nullish();

const part = z.looseObject({
  text: z.string().optional(),
  data: z.json().optional(),
  raw: z.unknown().optional(),
  url: z.unknown().optional(),
  mediaType: z.string().optional(),
  metadata: json.nullish(),
});

const sendParams = z.looseObject({
  message: z.looseObject({
    messageId: z.string().min(1).max(256),
    role: z.literal(['ROLE_USER', 1]),
    parts: z.array(part).min(1),
    taskId: optionalId,
    contextId: optionalId,
    metadata: json.nullish(),
    extensions: z.array(z.string()).nullish(),
    referenceTaskIds: z.array(z.string()).nullish(),
  }),
  configuration: z
    .looseObject({
      historyLength,
      returnImmediately: z.boolean().nullish(),
      acceptedOutputModes: z.array(z.string()).nullish(),
      taskPushNotificationConfig: z.unknown().optional(),
    })
    .nullish(),
});

const taskParams = z.looseObject({ id: z.string().min(1).max(256), historyLength });

/** A `SendMessage` as it came, checked; its sender is not known yet. */
export interface ParsedSend {
  readonly request: Omit<InboundRequest, 'sender' | 'senderKind'>;
  /** Who the message itself says it is from. */
  readonly claim: string | undefined;
  readonly senderKind: 'human' | 'agent';
  readonly channelSender: string | undefined;
}

/**
 * Reads the parameters of `SendMessage`.
 *
 * @throws HarnessError `input.invalid` naming the field.
 */
export function parseSend(params: unknown): ParsedSend {
  const { message, configuration } = checked(sendParams, params, '');
  if (configuration?.taskPushNotificationConfig) {
    throw new HarnessError('input.push_unsupported', 'this agent sends no push notifications');
  }
  const parts = message.parts.map(toPart);
  const metadata = message.metadata ?? {};
  const channel = only(parts, MEDIA_TYPE.channel, channelMessage);
  const event = message.taskId === undefined ? only(parts, MEDIA_TYPE.event, envelope) : undefined;
  const later = message.taskId === undefined ? undefined : only(parts, MEDIA_TYPE.event, laterEnvelope);
  const inbound: InboundMessage = {
    parts,
    ...(message.metadata ? { metadata: message.metadata as JsonObject } : {}),
    extensions: message.extensions ?? [],
    referenceTaskIds: message.referenceTaskIds ?? [],
  };
  const raw = (params as { message: JsonValue }).message;
  return {
    claim: claimOf(metadata as JsonObject),
    senderKind: metadata.participant_kind === 'agent' ? 'agent' : 'human',
    channelSender: channel?.sender,
    request: {
      messageId: message.messageId,
      ...(message.taskId === undefined ? {} : { taskId: message.taskId }),
      ...(message.contextId === undefined ? {} : { contextId: message.contextId }),
      message: inbound,
      bodyHash: createHash('sha256').update(canonicalJson(raw)).digest('hex'),
      text: textOf(inbound),
      interrupt: metadata.interrupt === true,
      ...conversationOf(metadata as JsonObject),
      ...envelopeOf(event),
      ...laterEnvelopeOf(later),
      ...channelOf(channel),
      ...verdictOf(channel, textOf(inbound)),
    },
  };
}

/**
 * Checks the parameters of an operation on a task.
 *
 * @throws HarnessError `input.invalid` naming the field.
 */
export function assertTaskParams(params: unknown): void {
  checked(taskParams, params, '');
}

function toPart(raw: z.output<typeof part>, index: number): PartRecord {
  const extra = {
    ...(raw.mediaType ? { mediaType: raw.mediaType } : {}),
    ...(raw.metadata ? { metadata: raw.metadata as JsonObject } : {}),
  };
  if (raw.text !== undefined) return { kind: 'text', text: raw.text, ...extra };
  if (raw.data !== undefined) return { kind: 'data', data: raw.data as JsonValue, ...extra };
  const field = `message.parts[${index}]`;
  if (raw.raw !== undefined || raw.url !== undefined) {
    throw invalid(field, 'files are not accepted by this agent', { reason: 'media_off' });
  }
  throw invalid(field, 'a part needs text or data');
}

/** The one part with this media type, read; a second one is an error. */
function only<S extends z.ZodType>(
  parts: readonly PartRecord[],
  mediaType: string,
  schema: S,
): z.output<S> | undefined {
  const found = parts.flatMap((each, index) => (each.mediaType === mediaType ? [{ each, index }] : []));
  const [first, second] = found;
  if (second)
    throw invalid(`message.parts[${second.index}]`, `there is more than one part of type ${mediaType}`);
  if (first === undefined) return undefined;
  const data = first.each.kind === 'data' ? first.each.data : undefined;
  return checked(schema, data, `message.parts[${first.index}].data`);
}

function claimOf(metadata: JsonObject): string | undefined {
  const claim = metadata.participant_id;
  if (claim === undefined || claim === null) return undefined;
  return checked(participantId, claim, 'message.metadata.participant_id');
}

function conversationOf(metadata: JsonObject): { conversation?: 'single' } {
  return metadata.conversation === 'single' ? { conversation: 'single' } : {};
}

function envelopeOf(event: Envelope | undefined): Pick<InboundRequest, 'brief' | 'control'> {
  if (event === undefined) return {};
  return event.kind === 'task' ? { brief: event.payload } : { control: event.action };
}

function laterEnvelopeOf(event: LaterEnvelope | undefined): Pick<InboundRequest, 'update' | 'control'> {
  if (event === undefined) return {};
  return event.kind === 'task' ? { update: event.payload } : { control: event.action };
}

/** PC-12: a decision in so many words, or a text that is exactly one of the options. */
function verdictOf(channel: ChannelMessage | undefined, text: string): Pick<InboundRequest, 'verdict'> {
  const parts = channel?.kind === 'help_reply' ? channel.parts : [];
  for (const [index, each] of parts.entries()) {
    if (each.kind !== 'data' || each.media_type !== MEDIA_TYPE.approval) continue;
    const said = checked(approvalPart, each.data, `parts[${index}].data`);
    return {
      verdict: {
        decision: said.decision,
        explicit: true,
        remember: said.remember,
        callId: said.call_id,
        argumentsHash: said.arguments_hash,
      },
    };
  }
  const choice = choiceOf(text);
  return choice === undefined ? {} : { verdict: { decision: choice, explicit: false, remember: false } };
}

function channelOf(channel: ChannelMessage | undefined): Pick<InboundRequest, 'channel'> {
  if (channel === undefined) return {};
  const { channel_id: channelId, in_reply_to: inReplyTo } = channel;
  return { channel: { channelId, ...(inReplyTo ? { inReplyTo } : {}) } };
}

/** Reads a value. @throws HarnessError `input.invalid` naming the field that is wrong. */
export function checked<S extends z.ZodType>(schema: S, value: unknown, prefix: string): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = (issue?.path ?? []).reduce<string>(
    (text, key) =>
      typeof key === 'number' ? `${text}[${key}]` : text === '' ? String(key) : `${text}.${String(key)}`,
    prefix,
  );
  throw invalid(path === '' ? 'params' : path, issue?.message ?? 'is not valid');
}

/** A bad shape, naming the field it is in. */
export function invalid(field: string, problem: string, details: JsonObject = {}): HarnessError {
  return new HarnessError('input.invalid', `${field}: ${problem}`, { details: { field, ...details } });
}
