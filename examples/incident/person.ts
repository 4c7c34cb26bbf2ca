import { randomUUID } from 'node:crypto';

const CHANNEL = 'application/vnd.tiny-harness.channel+json';
const QUESTION = 'application/vnd.tiny-harness.question+json';
const APPROVAL = 'application/vnd.tiny-harness.approval+json';
const EVENT = 'application/vnd.tiny-harness.event+json';

/** What this story reads of an A2A task. */
export interface Task {
  readonly id: string;
  readonly status: { readonly state: string; readonly message?: Message };
  readonly history?: readonly Message[];
}

interface Message {
  readonly messageId: string;
  readonly role: string;
  readonly parts: readonly Part[];
}

interface Part {
  readonly text?: string;
  readonly data?: unknown;
  readonly mediaType?: string;
}

/** A question of the agent that is open. */
export interface Question {
  readonly id: string;
  readonly options: readonly string[];
}

/** A call that waits for a decision. */
export interface Approval extends Question {
  readonly callId: string;
  readonly arguments: unknown;
  readonly argumentsHash: string;
  readonly approvers: readonly string[];
}

/** Somebody who talks to the agent over A2A, by JSON-RPC. */
export class Person {
  readonly #id: string;
  readonly #url: string;

  constructor(id: string, url: string) {
    this.#id = id;
    this.#url = url;
  }

  /** Opens a task with these people on it. */
  opens(text: string, roles: Record<string, string>): Promise<Task> {
    const participants = Object.entries(roles).map(([id, role]) => ({ id, kind: 'human', role }));
    const task = { kind: 'task', payload: { name: 'Outage', goal: text, participants } };
    return this.#send({ parts: [{ text }, { data: task, mediaType: EVENT }] }, text);
  }

  says({ id }: Task, text: string): Promise<Task> {
    return this.#send({ taskId: id, parts: [{ text }] }, text);
  }

  answers(task: Task, question: Question, text: string): Promise<Task> {
    return this.#replies(task, question, { text }, text);
  }

  decides(task: Task, approval: Approval, decision: 'approve' | 'deny'): Promise<Task> {
    const { callId: call_id, argumentsHash: arguments_hash } = approval;
    const part = { kind: 'data', media_type: APPROVAL, data: { decision, call_id, arguments_hash } };
    return this.#replies(
      task,
      approval,
      { parts: [part] },
      `(${decision}s ${JSON.stringify(approval.arguments)})`,
    );
  }

  #replies({ id }: Task, question: Question, what: object, shown: string): Promise<Task> {
    const reply = { channel_id: id, sender: this.#id, kind: 'help_reply', in_reply_to: question.id, ...what };
    return this.#send({ taskId: id, parts: [{ data: reply, mediaType: CHANNEL }] }, shown);
  }

  /** Sends a message and waits until the agent waits for somebody again, or is done. */
  async #send(message: object, shown: string): Promise<Task> {
    console.log(`\n${this.#id}: ${shown}`);
    const params = { message: { messageId: randomUUID(), role: 'ROLE_USER', ...message } };
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-participant-id': this.#id },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params }),
    });
    const { result, error } = (await response.json()) as { result?: { task: Task }; error?: unknown };
    if (result === undefined) throw new Error(`the agent refused: ${JSON.stringify(error)}`);
    for (const message of this.#unread(result.task)) console.log(`support: ${textOf(message)}`);
    return result.task;
  }

  /** What the agent said since; a status message that only repeats questions is left out. */
  #unread({ history = [] }: Task): readonly Message[] {
    const last = history.findLastIndex(({ role }) => role === 'ROLE_USER');
    const said = history.slice(last + 1);
    const asked = said.filter(({ messageId }) => !messageId.includes(':status:'));
    return asked.length > 0 ? asked : said;
  }
}

function textOf({ parts }: Message): string {
  return parts.flatMap(({ text }) => (text === undefined ? [] : [text])).join('\n');
}

/** The state, without A2A's prefix. */
export function stateOf({ status }: Task): string {
  return status.state.replace('TASK_STATE_', '');
}

export function questionsIn(task: Task): Question[] {
  return asked(task).map(({ question }) => question);
}

export function approvalsIn(task: Task): Approval[] {
  return asked(task).flatMap(({ question, call }) =>
    call === undefined
      ? []
      : [
          {
            ...question,
            callId: call.call_id,
            arguments: call.arguments,
            argumentsHash: call.arguments_hash,
            approvers: call.approvers,
          },
        ],
  );
}

interface ChannelData {
  readonly parts: readonly { readonly media_type?: string; readonly data: unknown }[];
}

interface CallData {
  readonly call_id: string;
  readonly arguments: unknown;
  readonly arguments_hash: string;
  readonly approvers: readonly string[];
}

/** The questions that the status message carries, each a channel part. */
function asked({ status }: Task): { question: Question; call: CallData | undefined }[] {
  const messages = (status.message?.parts ?? []).filter(({ mediaType }) => mediaType === CHANNEL);
  return messages.map(({ data }) => {
    const { parts } = data as ChannelData;
    const of = (type: string) => parts.find(({ media_type }) => media_type === type)?.data;
    const { question_id, options } = of(QUESTION) as { question_id: string; options: string[] };
    return { question: { id: question_id, options }, call: of(APPROVAL) as CallData | undefined };
  });
}
