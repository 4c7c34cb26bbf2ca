import { type Artifact, type Message, type Part, Role, type StreamResponse, type Task } from '@a2a-js/sdk';
import type { JsonObject, JsonValue } from '../../core/base/index.ts';
import {
  EXTENSION,
  encodeQuestion,
  encodeTaskData,
  MEDIA_TYPE,
  METADATA,
  messageId,
  questionText,
  readQuestion,
} from '../../core/extensions/index.ts';
import type { TaskState as State, SubState } from '../../core/loop/index.ts';
import type {
  InboxRow,
  LogBody,
  LogEntry,
  PartRecord,
  TaskRow,
  TaskStore,
  TextDelta,
} from '../../core/persistence/index.ts';
import type { Standing } from './standing.ts';
import { WIRE_STATE } from './states.ts';

/** What a reader asked to see. */
export interface View {
  /** Extensions the request activated. */
  readonly extensions: ReadonlySet<string>;
}

/** How much of a task is shown. */
export interface Shown {
  /** How many of the newest messages; all when absent. */
  readonly historyLength?: number | undefined;
  readonly artifacts?: boolean;
}

/** Entries that carry a message of the conversation. */
const MESSAGE_KINDS: readonly LogBody['kind'][] = ['message', 'question', 'note', 'state', 'command'];

/** Draws tasks and log entries of one agent as A2A objects. Reads the store; changes nothing. */
export class Projection {
  readonly #store: TaskStore;
  readonly #agentId: string;

  constructor(store: TaskStore, agentId: string) {
    this.#store = store;
    this.#agentId = agentId;
  }

  /** The task as of its row's cursor, with its newest `historyLength` messages (all when absent). */
  async task(row: TaskRow, view: View, { historyLength, artifacts = true }: Shown = {}): Promise<Task> {
    const [status] = await this.#store.log(row.id, { after: row.statusSeq - 1, upTo: row.statusSeq });
    return {
      id: row.id,
      contextId: row.contextId,
      status: {
        state: WIRE_STATE[row.state],
        message: status && (await this.#message(row, status)),
        timestamp: status?.at,
      },
      history: historyLength === 0 ? [] : await this.#history(row, historyLength),
      artifacts: artifacts && showsResponses(view) ? await this.#artifacts(row) : [],
      metadata: {
        [METADATA.task]: encodeTaskData(row.data),
        ...statusMetadata(row.state, row.subState),
        ...(status?.body.kind === 'state' ? stateProgress(status.body, view) : {}),
      },
    };
  }

  /**
   * What a stream shows of a log entry, given how the task stands after it; undefined when this reader is shown nothing
   * of it.
   */
  async entry(
    row: TaskRow,
    entry: LogEntry,
    standing: Standing,
    view: View,
  ): Promise<StreamResponse | undefined> {
    const { body } = entry;
    const { state, subState } = standing;
    const update = (message: Message | undefined, metadata: JsonObject) =>
      statusUpdate(row, state, entry.at, message, { ...statusMetadata(state, subState), ...metadata });
    switch (body.kind) {
      case 'message':
        return undefined;
      case 'state':
        return update(await this.#message(row, entry), stateProgress(body, view));
      case 'question':
      case 'note':
      case 'command':
        return update(await this.#message(row, entry), {});
      case 'task_data':
        return view.extensions.has(EXTENSION.task)
          ? update(undefined, { [METADATA.task]: encodeTaskData(body.data) })
          : undefined;
      case 'tool':
        return view.extensions.has(EXTENSION.progress)
          ? update(undefined, { [METADATA.progress]: toolProgress(body, standing) })
          : undefined;
      case 'turn':
        return view.extensions.has(EXTENSION.progress)
          ? update(undefined, { [METADATA.progress]: turnProgress(body) })
          : undefined;
      case 'response':
        return showsResponses(view)
          ? artifactUpdate(row, entry.exchange, body.text, { append: false, last: true })
          : undefined;
    }
  }

  /** A piece of text while it is generated. */
  delta(row: TaskRow, delta: TextDelta, view: View): StreamResponse | undefined {
    return showsResponses(view)
      ? artifactUpdate(row, delta.exchange, delta.text, { append: !delta.first, last: false })
      : undefined;
  }

  /** PC-3: says to its sender why a message was not accepted; the state is as it was. */
  refusal(
    row: TaskRow,
    id: string,
    reason: string,
  ): { readonly message: Message; readonly update: StreamResponse } {
    const message = agentMessage(row, `${row.id}:refusal:${id}`, [textPart(reason)]);
    return {
      message,
      update: statusUpdate(row, row.state, row.updatedAt, message, statusMetadata(row.state, row.subState)),
    };
  }

  async #history(row: TaskRow, length: number | undefined): Promise<Message[]> {
    const all = { upTo: row.log, kinds: MESSAGE_KINDS };
    // Some state changes carry no message, so the newest N messages lie within a few more than N entries, or further.
    const some = length === undefined ? undefined : length * 3 + 8;
    let entries = await this.#store.log(row.id, some === undefined ? all : { ...all, last: some });
    let messages = await this.#messages(row, entries);
    if (length === undefined) return messages;
    if (messages.length < length && entries.length === some) {
      entries = await this.#store.log(row.id, all);
      messages = await this.#messages(row, entries);
    }
    return messages.slice(-length);
  }

  async #messages(row: TaskRow, entries: readonly LogEntry[]): Promise<Message[]> {
    const keys = entries.flatMap(({ body }) => ('inbox' in body ? [body.inbox] : []));
    const inbox = new Map((await this.#store.inboxRows(keys)).map((each) => [each.key, each]));
    const messages = new Map<string, Message>();
    for (const entry of entries) {
      // A command stands before its answer. Two people may have used one id.
      const sent = 'inbox' in entry.body ? inbox.get(entry.body.inbox) : undefined;
      if (sent) messages.set(sent.key, userMessage(row, sent));
      const message = await this.#message(row, entry);
      // A question that became the status message is one message.
      if (message && !messages.has(message.messageId)) messages.set(message.messageId, message);
    }
    return [...messages.values()];
  }

  async #artifacts(row: TaskRow): Promise<Artifact[]> {
    const entries = await this.#store.log(row.id, { upTo: row.log, kinds: ['response'] });
    const artifacts = new Map<number, Artifact>();
    for (const { exchange, body } of entries) {
      if (body.kind === 'response') artifacts.set(exchange, responseArtifact(exchange, body.text));
    }
    return [...artifacts.values()];
  }

  /** The agent's message that an entry carries. */
  async #message(row: TaskRow, { seq, body }: LogEntry): Promise<Message | undefined> {
    switch (body.kind) {
      case 'note':
        return agentMessage(row, messageId.note(row.id, seq), [textPart(body.text)]);
      case 'command':
        return {
          ...agentMessage(row, messageId.command(row.id, seq), [textPart(body.text)]),
          metadata: { command: body.name },
        };
      case 'question': {
        const id = messageId.help(row.id, seq);
        const channel = dataPart(
          encodeQuestion(row.id, this.#agentId, id, body.question),
          MEDIA_TYPE.channel,
        );
        return agentMessage(row, id, [textPart(questionText(body.question)), channel]);
      }
      case 'state': {
        if (body.text === null && body.questions.length === 0) return undefined;
        const parts = body.text === null || body.text === '' ? [] : [textPart(body.text)];
        for (const id of body.questions) parts.push(...(await this.#questionPart(row, id)));
        return agentMessage(row, body.messageId ?? messageId.status(row.id, seq), parts);
      }
      default:
        return undefined;
    }
  }

  async #questionPart(row: TaskRow, id: string): Promise<Part[]> {
    const question = await readQuestion(this.#store, row.id, id);
    if (question === undefined) return [];
    return [dataPart(encodeQuestion(row.id, this.#agentId, id, question), MEDIA_TYPE.channel)];
  }
}

/** Surfaces that know the task extension but not ours print both artifact and status text; they get the text alone. */
function showsResponses({ extensions }: View): boolean {
  return extensions.has(EXTENSION.progress) || !extensions.has(EXTENSION.task);
}

function statusUpdate(
  row: TaskRow,
  state: State,
  timestamp: string,
  message: Message | undefined,
  metadata: JsonObject,
): StreamResponse {
  return {
    payload: {
      $case: 'statusUpdate',
      value: {
        taskId: row.id,
        contextId: row.contextId,
        status: { state: WIRE_STATE[state], message, timestamp },
        metadata: Object.keys(metadata).length === 0 ? undefined : { ...metadata },
      },
    },
  };
}

function artifactUpdate(
  row: TaskRow,
  exchange: number,
  text: string,
  chunk: { readonly append: boolean; readonly last: boolean },
): StreamResponse {
  return {
    payload: {
      $case: 'artifactUpdate',
      value: {
        taskId: row.id,
        contextId: row.contextId,
        artifact: responseArtifact(exchange, text),
        append: chunk.append,
        lastChunk: chunk.last,
        metadata: undefined,
      },
    },
  };
}

function responseArtifact(exchange: number, text: string): Artifact {
  const artifactId = `response:${exchange}`;
  return {
    artifactId,
    name: 'response',
    description: '',
    parts: [textPart(text)],
    metadata: undefined,
    extensions: [],
  };
}

function statusMetadata(state: State, subState: SubState | null): JsonObject {
  return state === 'INPUT_REQUIRED' && subState !== null
    ? { [METADATA.status]: { sub_state: subState } }
    : {};
}

/** Where the task stands, for readers who activate the progress extension (SF-6). */
function stateProgress(body: Extract<LogBody, { kind: 'state' }>, view: View): JsonObject {
  if (!view.extensions.has(EXTENSION.progress) || body.turn === undefined) return {};
  const phase = body.state === 'WORKING' ? 'model' : body.state === 'INPUT_REQUIRED' ? 'waiting' : 'ended';
  return {
    [METADATA.progress]: {
      turn: body.turn,
      phase,
      activity: body.subState,
      open_questions: [...body.questions],
      tokens: body.tokens ?? null,
      cost: shownCost(body.cost),
    },
  };
}

function turnProgress(body: Extract<LogBody, { kind: 'turn' }>): JsonObject {
  const { turn, tokens, cost, questions } = body;
  return {
    turn,
    phase: 'model',
    activity: null,
    open_questions: [...questions],
    tokens,
    cost: shownCost(cost),
  };
}

function toolProgress(
  body: Extract<LogBody, { kind: 'tool' }>,
  { questions, tokens, cost }: Standing,
): JsonObject {
  return {
    turn: body.turn,
    phase: body.isError ? 'tool_failed' : `tool_${body.phase}`,
    activity: body.name,
    open_questions: [...questions],
    tokens,
    cost: shownCost(cost),
  };
}

/** Without the noise of sums of fractions. */
function shownCost(cost: number | null | undefined): number | null {
  return typeof cost === 'number' ? Number(cost.toFixed(6)) : null;
}

function agentMessage(row: TaskRow, id: string, parts: Part[]): Message {
  return {
    messageId: id,
    taskId: row.id,
    contextId: row.contextId,
    role: Role.ROLE_AGENT,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function userMessage(row: TaskRow, sent: InboxRow): Message {
  const { message } = sent;
  return {
    messageId: sent.messageId,
    taskId: row.id,
    contextId: row.contextId,
    role: Role.ROLE_USER,
    parts: message.parts.map(recordedPart),
    metadata: { ...message.metadata, participant_id: sent.sender },
    extensions: [...message.extensions],
    referenceTaskIds: [...message.referenceTaskIds],
  };
}

function recordedPart(part: PartRecord): Part {
  const base = part.kind === 'text' ? textPart(part.text) : dataPart(part.data, '');
  return { ...base, mediaType: part.mediaType ?? '', metadata: part.metadata && { ...part.metadata } };
}

function textPart(text: string): Part {
  return { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' };
}

function dataPart(data: JsonValue, mediaType: string): Part {
  return { content: { $case: 'data', value: data }, metadata: undefined, filename: '', mediaType };
}
