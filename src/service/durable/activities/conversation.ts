import { readQuestion, textOf } from '../../../core/extensions/index.ts';
import type { LlmInputItem } from '../../../core/models/index.ts';
import type { InboxRow, TaskStore, TranscriptItem, TranscriptRow } from '../../../core/persistence/index.ts';
import { frameUntrusted } from '../../../core/prompts/index.ts';
import { fromJson, type ModelEffect, type ResultEffect } from './effects.ts';

/** How many conversations a process keeps; one that is not here is read from the store again. */
const CACHED_TASKS = 64;

/** The conversations of the tasks this process works on, rendered for the model. A cache: the store has them all. */
export class Conversations {
  readonly #store: TaskStore;
  readonly #cached = new Map<string, { upTo: number; items: LlmInputItem[] }>();

  constructor(store: TaskStore) {
    this.#store = store;
  }

  /** What the model reads, up to and including transcript row `upTo`. */
  async read(taskId: string, upTo: number): Promise<readonly LlmInputItem[]> {
    const known = this.#cached.get(taskId);
    const base = known !== undefined && known.upTo <= upTo ? known : { upTo: 0, items: [] };
    const rows = await this.#store.transcript(taskId, { after: base.upTo, upTo });
    const items = [...base.items, ...(await render(this.#store, taskId, rows))];
    this.#cached.delete(taskId);
    this.#cached.set(taskId, { upTo, items });
    const oldest = this.#cached.keys().next().value;
    if (this.#cached.size > CACHED_TASKS && oldest !== undefined) this.#cached.delete(oldest);
    return items;
  }

  forget(taskId: string): void {
    this.#cached.delete(taskId);
  }
}

async function render(
  store: TaskStore,
  taskId: string,
  rows: readonly TranscriptRow[],
): Promise<LlmInputItem[]> {
  const keysOf = (type: TranscriptItem['type']) =>
    rows.flatMap(({ item }) => (item.type === type ? [item] : []));
  const inbox = await store.inboxRows(
    keysOf('message').flatMap((item) => (item.type === 'message' ? [item.inbox] : [])),
  );
  const messages = new Map(inbox.map((row) => [row.key, row]));
  const effects = await store.effects(
    taskId,
    rows.flatMap(({ item }) => ('effect' in item ? [item.effect] : [])),
  );
  const rendered: LlmInputItem[] = [];
  for (const { item } of rows) {
    if (item.type === 'message') {
      const row = messages.get(item.inbox);
      if (row) rendered.push({ type: 'user', text: await renderMessage(store, row, item.answers) });
    } else if (item.type === 'assistant') {
      const effect = fromJson<ModelEffect>(effects.get(item.effect));
      if (effect)
        rendered.push({ type: 'assistant', text: effect.response.text, calls: effect.response.calls });
    } else if (item.type === 'child') {
      rendered.push({ type: 'user', text: await renderChild(store, item.taskId) });
    } else if (item.type === 'expired') {
      rendered.push({ type: 'user', text: await renderExpired(store, taskId, item.question) });
    } else {
      const result = renderResult(fromJson<ResultEffect>(effects.get(item.effect)));
      rendered.push(
        item.type === 'result'
          ? { type: 'tool_result', callId: item.callId, ...result }
          : {
              type: 'user',
              text: `[what came of call ${item.callId}, which waited for approval]\n${result.text}`,
            },
      );
    }
  }
  return rendered;
}

/** PC-11: a person's words are the task's instruction, marked with who wrote them; an agent's stand in the block. */
async function renderMessage(store: TaskStore, row: InboxRow, answers: string | undefined): Promise<string> {
  const about =
    answers === undefined ? '' : ` in answer to ${await quoteQuestion(store, row.taskId, answers)}`;
  const text = textOf(row.message);
  const body = row.senderKind === 'agent' ? frameUntrusted(`agent ${row.sender}`, text) : text;
  return `[message from ${row.sender}${about}]\n${body}`;
}

/** PC-11: what a sub-task came to is data, whoever worked on it. */
async function renderChild(store: TaskStore, taskId: string): Promise<string> {
  const task = await store.task(taskId);
  if (task === undefined) return `[sub-task ${taskId} is gone]`;
  const [status] = await store.log(taskId, { after: task.statusSeq - 1, upTo: task.statusSeq });
  const text = status?.body.kind === 'state' ? (status.body.text ?? '') : '';
  return `[sub-task ${taskId} ended: ${task.state}]\n${frameUntrusted(`sub-task ${task.data.name}`, text)}`;
}

async function renderExpired(store: TaskStore, taskId: string, id: string): Promise<string> {
  return `[nobody answered ${await quoteQuestion(store, taskId, id)} in time; decide how to go on without]`;
}

async function quoteQuestion(store: TaskStore, taskId: string, id: string): Promise<string> {
  const question = await readQuestion(store, taskId, id);
  return question ? `the question "${question.text}"` : `question ${id}`;
}

function renderResult(result: ResultEffect | undefined): { text: string; isError: boolean } {
  if (result === undefined) return { text: 'the call was stopped before it had a result', isError: true };
  return {
    text: result.untrusted ? frameUntrusted(`tool ${result.name}`, result.text) : result.text,
    isError: result.isError,
  };
}
