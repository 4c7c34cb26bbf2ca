import { MEDIA_TYPE, METADATA } from '../../src/core/extensions/index.ts';
import type { LlmRequest } from '../../src/core/models/index.ts';
import { call, type ScriptedReply } from '../../src/testing/index.ts';
import {
  channelPart,
  channelParts,
  eventPart,
  type Json,
  rawState,
  rpc,
  say,
  statusParts,
  taskOf,
} from '../http/raw.ts';

/** Who is on a task: a role for a person, more for an agent. */
type Roles = Readonly<Record<string, string | { readonly role: string; readonly kind: string }>>;

/** What people do with the tasks of one agent, over A2A. */
export class Talk {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  /** Opens a task and answers when its first exchange is over, or at once. */
  async open(
    text: string,
    members: Roles,
    { as = 'alice', single = false, wait = true } = {},
  ): Promise<Json> {
    const metadata = single ? { conversation: 'single' } : {};
    const participants = Object.entries(members).map(([id, member]) =>
      typeof member === 'string' ? { id, role: member } : { id, ...member },
    );
    const brief = eventPart({ kind: 'task', payload: { name: text, goal: text, participants } });
    const message = say('', { parts: [{ text }, brief], metadata }, { returnImmediately: !wait });
    return taskOf(await rpc(this.url, 'SendMessage', message, { participant: as }));
  }

  async say(taskId: unknown, as: string, text: string, more: Json = {}): Promise<Json> {
    return taskOf(await rpc(this.url, 'SendMessage', say(text, { taskId, ...more }), { participant: as }));
  }

  /** Answers a question by name. */
  async answer(taskId: unknown, as: string, questionId: string, text: string): Promise<Json> {
    const part = channelPart({
      channel_id: taskId,
      sender: as,
      kind: 'help_reply',
      text,
      parts: [],
      in_reply_to: questionId,
    });
    return this.say(taskId, as, '', { parts: [part] });
  }

  /** Decides about a call, in so many words. */
  async decide(
    taskId: unknown,
    as: string,
    { id, callId, hash }: Pick<Approval, 'id' | 'callId' | 'hash'>,
    decision: 'approve' | 'deny',
    more: Json = {},
  ): Promise<Json> {
    const part = channelPart({
      channel_id: taskId,
      sender: as,
      kind: 'help_reply',
      text: '',
      parts: [
        {
          kind: 'data',
          media_type: MEDIA_TYPE.approval,
          data: { decision, call_id: callId, arguments_hash: hash, ...more },
        },
      ],
      in_reply_to: id,
    });
    return this.say(taskId, as, '', { parts: [part] });
  }

  async task(taskId: unknown, as = 'alice'): Promise<Json> {
    return taskOf(await rpc(this.url, 'GetTask', { id: taskId }, { participant: as }));
  }

  /** The task, once it is as it should be. */
  async until(taskId: unknown, reached: (task: Json) => boolean, as = 'alice'): Promise<Json> {
    const deadline = Date.now() + 20_000;
    for (;;) {
      const task = await this.task(taskId, as);
      if (reached(task)) return task;
      if (Date.now() > deadline) throw new Error(`never so: ${JSON.stringify(task.status)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  ended(taskId: unknown, as?: string): Promise<Json> {
    return this.until(taskId, (task) => /COMPLETED|FAILED|CANCELED/.test(String(rawState(task))), as);
  }
}

/** A question as a task shows it. */
export interface Shown {
  readonly id: string;
  readonly text: string;
  readonly participantId: string;
  readonly options: readonly string[];
}

/** A call that waits for a decision. */
export interface Approval extends Shown {
  readonly callId: string;
  readonly hash: string;
  readonly tool: string;
  readonly arguments: Json;
  readonly approvers: readonly string[];
}

/** What a task shows as open, in order. */
export function openQuestions(task: Json): Shown[] {
  return channelParts(statusParts(task)).map(shown);
}

export function openApprovals(task: Json): Approval[] {
  return channelParts(statusParts(task)).flatMap((message) => {
    const call = partOf(message, MEDIA_TYPE.approval);
    if (call === undefined) return [];
    return [
      {
        ...shown(message),
        callId: String(call.call_id),
        hash: String(call.arguments_hash),
        tool: String(call.tool),
        arguments: call.arguments as Json,
        approvers: call.approvers as string[],
      },
    ];
  });
}

function shown(message: Json): Shown {
  const question = partOf(message, MEDIA_TYPE.question);
  return {
    id: String(question?.question_id),
    text: String(message.text),
    participantId: String(question?.participant_id),
    options: (question?.options ?? []) as string[],
  };
}

function partOf(message: Json, mediaType: string): Json | undefined {
  const parts = message.parts as { media_type?: string; data: Json }[];
  return parts.find((part) => part.media_type === mediaType)?.data;
}

/** The words of a task's status. */
export function statusText(task: Json): string {
  return statusParts(task)
    .flatMap((part) => (typeof part.text === 'string' ? [part.text] : []))
    .join('\n');
}

export function dataOf(task: Json): Json {
  return (task.metadata as Json)[METADATA.task] as Json;
}

/** Ids of a task's sub-tasks. */
export function subTasks(task: Json): string[] {
  return (dataOf(task).sub_tasks as { task_id: string }[]).map(({ task_id }) => task_id);
}

export function ask(participant: string, question: string, more: Json = {}): ScriptedReply {
  return call('ask_participant', { participant_id: participant, question, ...more } as never);
}

export function spawn(name: string, more: Json = {}): ScriptedReply {
  return call('spawn_subtask', { name, goal: `Goal of ${name}`, ...more } as never);
}

/** The goal in the task section of a request: which task it is for. */
function goalOf(request: LlmRequest): string {
  const [first] = request.input;
  return first?.type === 'user' ? (/^goal: (.*)$/m.exec(first.text)?.[1] ?? '') : '';
}

/** Everything that a request holds of the conversation, as one text. */
export function readIn(request: LlmRequest | undefined): string {
  return (request?.input.slice(1) ?? [])
    .map((item) => (item.type === 'assistant' ? '' : item.text))
    .join('\n---\n');
}

/** Scripts one list of replies for each task, by the start of its goal. */
export function byGoal(
  scripts: Record<string, readonly ScriptedReply[]>,
): (request: LlmRequest) => ScriptedReply {
  const at = new Map<string, number>();
  return (request) => {
    const goal = goalOf(request);
    const name = Object.keys(scripts).find((each) => goal.startsWith(each));
    const next = name === undefined ? undefined : scripts[name]?.[at.get(name) ?? 0];
    if (name === undefined || next === undefined)
      throw new Error(`no reply for "${goal}" (${at.get(goal) ?? 0})`);
    at.set(name, (at.get(name) ?? 0) + 1);
    return next;
  };
}
