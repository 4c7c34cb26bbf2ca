import { z } from 'zod';
import type { JsonValue } from '../base/index.ts';
import type {
  Lifecycle,
  MailItem,
  ParticipantKind,
  ParticipantRole,
  StepState,
  SubState,
  TaskData,
  TaskState,
} from '../loop/index.ts';
import type { ReasoningEffort } from '../models/index.ts';
import type { InboundMessage, LogBody, PartRecord, TranscriptItem } from './records.ts';

// What is read from a store, in the shapes that the rest of the program goes by (SR-2). Objects are loose: what a later
// version adds is kept and not looked at. Where the types grow by a member, this file does not compile until it has it.

/** One of these texts, which are all members of the type. */
function oneOf<T extends string>(members: Readonly<Record<T, true>>) {
  return z.enum(Object.keys(members) as [T, ...T[]]);
}

/** A schema for each member of a union of objects that are told apart by one key. */
type Members<Union, Key extends keyof Union> = {
  readonly [Name in Union[Key] & string]: z.ZodType<Extract<Union, Readonly<Record<Key, Name>>>>;
};

function unionOf<T>(key: string, members: Readonly<Record<string, z.ZodType>>): z.ZodType<T> {
  type Listed = Parameters<typeof z.discriminatedUnion>[1];
  return z.discriminatedUnion(key, Object.values(members) as unknown as Listed) as unknown as z.ZodType<T>;
}

const taskState = oneOf<TaskState>({
  SUBMITTED: true,
  WORKING: true,
  INPUT_REQUIRED: true,
  AUTH_REQUIRED: true,
  COMPLETED: true,
  FAILED: true,
  CANCELED: true,
  REJECTED: true,
});
const subState = oneOf<SubState>({ 'awaiting-next-message': true, 'awaiting-answer': true });
const participantKind = oneOf<ParticipantKind>({ human: true, agent: true });
const participantRole = oneOf<ParticipantRole>({
  assignee: true,
  reporter: true,
  watcher: true,
  admin: true,
});

const texts = z.array(z.string());

const link = z.looseObject({
  taskId: z.string(),
  agent: z
    .looseObject({ kind: z.literal('agent'), id: z.string(), version: z.string().nullable() })
    .nullable(),
  state: taskState.nullable(),
  subState: subState.nullable(),
});

const step = z.looseObject({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  dependsOn: texts,
  state: oneOf<StepState>({ pending: true, active: true, done: true, failed: true }),
  output: z.string().nullable(),
  linkedTasks: texts,
});

const taskData = z.looseObject({
  name: z.string(),
  goal: z.string(),
  type: z.string().nullable(),
  description: z.string(),
  acceptanceCriteria: z.array(z.looseObject({ text: z.string(), met: z.boolean() })),
  participants: z.array(
    z.looseObject({
      id: z.string(),
      kind: participantKind,
      role: participantRole,
      displayName: z.string(),
    }),
  ),
  parentTasks: z.array(link),
  subTasks: z.array(link),
  plan: z.looseObject({ steps: z.array(step) }).nullable(),
  lifecycle: oneOf<Lifecycle>({ conversation: true, delegated: true }),
  model: z.string().nullable(),
  reasoningEffort: oneOf<ReasoningEffort>({ low: true, medium: true, high: true }).nullable(),
}) satisfies z.ZodType<TaskData>;

const bodies = {
  message: z.looseObject({ kind: z.literal('message'), inbox: z.string() }),
  state: z.looseObject({
    kind: z.literal('state'),
    state: taskState,
    subState: subState.nullable(),
    text: z.string().nullable(),
    questions: texts,
  }),
  task_data: z.looseObject({ kind: z.literal('task_data'), data: taskData }),
  question: z.looseObject({
    kind: z.literal('question'),
    question: z.looseObject({
      participantIds: texts,
      text: z.string(),
      options: texts,
      expiresAt: z.string().nullable(),
    }),
  }),
  command: z.looseObject({
    kind: z.literal('command'),
    inbox: z.string(),
    name: z.string(),
    text: z.string(),
  }),
  turn: z.looseObject({ kind: z.literal('turn'), turn: z.number(), tokens: z.number(), questions: texts }),
  note: z.looseObject({ kind: z.literal('note'), text: z.string() }),
  tool: z.looseObject({
    kind: z.literal('tool'),
    phase: z.enum(['started', 'finished']),
    name: z.string(),
    turn: z.number(),
    isError: z.boolean(),
  }),
  response: z.looseObject({ kind: z.literal('response'), text: z.string() }),
} satisfies Members<LogBody, 'kind'>;

const items = {
  message: z.looseObject({ type: z.literal('message'), inbox: z.string() }),
  assistant: z.looseObject({ type: z.literal('assistant'), effect: z.string() }),
  result: z.looseObject({ type: z.literal('result'), effect: z.string(), callId: z.string() }),
  outcome: z.looseObject({ type: z.literal('outcome'), effect: z.string(), callId: z.string() }),
  child: z.looseObject({ type: z.literal('child'), taskId: z.string() }),
  expired: z.looseObject({ type: z.literal('expired'), question: z.string() }),
} satisfies Members<TranscriptItem, 'type'>;

const parts = {
  text: z.looseObject({ kind: z.literal('text'), text: z.string() }),
  // It came out of JSON, so it is JSON; that it is there is all there is to see.
  data: z.looseObject({
    kind: z.literal('data'),
    data: z.custom<JsonValue>((data) => data !== undefined),
  }),
} satisfies Members<PartRecord, 'kind'>;

/** The schemas of what a store keeps as JSON, and of the texts beside it that are one of a few. */
export const RECORDS = {
  taskState,
  subState: subState.nullable(),
  participantKind,
  taskData,
  logBody: unionOf<LogBody>('kind', bodies),
  transcriptItem: unionOf<TranscriptItem>('type', items),
  /** Whoever saved it knows its shape. */
  effect: z.custom<JsonValue>(),
  message: z.looseObject({
    parts: z.array(unionOf<PartRecord>('kind', parts)),
    extensions: texts,
    referenceTaskIds: texts,
  }) satisfies z.ZodType<InboundMessage>,
  mail: z.looseObject({
    key: z.string(),
    messageId: z.string(),
    sender: z.string(),
    role: participantRole,
    kind: participantKind,
  }) satisfies z.ZodType<MailItem>,
};
