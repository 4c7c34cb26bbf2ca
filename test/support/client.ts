import { randomUUID } from 'node:crypto';
import {
  type Message,
  type Part,
  Role,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  TaskState,
} from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';

/** What a test says in a message. */
export interface Words {
  readonly text?: string;
  readonly parts?: readonly Part[];
  readonly taskId?: string;
  readonly contextId?: string;
  readonly messageId?: string;
  readonly metadata?: Record<string, unknown>;
  readonly returnImmediately?: boolean;
  readonly historyLength?: number;
}

/** The official client, speaking as one participant. */
export interface TestClient {
  readonly sdk: Client;
  send(words: Words): Promise<Task>;
  stream(words: Words): AsyncGenerator<StreamResponse, void, undefined>;
  task(id: string, historyLength?: number): Promise<Task>;
}

export async function sdkClient(
  url: string,
  participant: string | undefined,
  extensions: readonly string[] = [],
  binding: 'JSONRPC' | 'HTTP+JSON' = 'JSONRPC',
): Promise<TestClient> {
  const speaking: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    if (participant !== undefined) headers.set('x-participant-id', participant);
    if (extensions.length > 0) headers.set('a2a-extensions', extensions.join(', '));
    return fetch(input, { ...init, headers });
  };
  const Transport = binding === 'JSONRPC' ? JsonRpcTransportFactory : RestTransportFactory;
  const factory = new ClientFactory({ transports: [new Transport({ fetchImpl: speaking })] });
  const sdk = await factory.createFromUrl(url);
  return {
    sdk,
    async send(words) {
      const result = await sdk.sendMessage(requestOf(words));
      if (!('status' in result)) throw new Error('the server answered with a message, not a task');
      return result;
    },
    stream: (words) => sdk.sendMessageStream(requestOf(words)),
    task: (id, historyLength) => sdk.getTask({ id, historyLength, tenant: '' }),
  };
}

function textPart(text: string): Part {
  return { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' };
}

function requestOf(words: Words): SendMessageRequest {
  return {
    tenant: '',
    metadata: undefined,
    message: {
      messageId: words.messageId ?? randomUUID(),
      taskId: words.taskId ?? '',
      contextId: words.contextId ?? '',
      role: Role.ROLE_USER,
      parts: [...(words.text === undefined ? [] : [textPart(words.text)]), ...(words.parts ?? [])],
      metadata: words.metadata,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: words.returnImmediately ?? false,
      historyLength: words.historyLength,
    },
  };
}

/** The text parts of a message, joined. */
export function messageText(message: Message | undefined): string {
  return (message?.parts ?? [])
    .flatMap((part) => (part.content?.$case === 'text' ? [part.content.value] : []))
    .join('\n');
}

/** `INPUT_REQUIRED` and so on. */
export function stateOf(task: Pick<Task, 'status'>): string {
  return (TaskState[task.status?.state ?? 0] ?? '').replace('TASK_STATE_', '');
}

/** Reads a stream to its end. */
export async function collect(stream: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  const events: StreamResponse[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** What a stream showed, one word an event: `task:SUBMITTED`, `status:WORKING`, `artifact:response:1`. */
export function outline(events: readonly StreamResponse[]): string[] {
  return events.map(({ payload }) => {
    switch (payload?.$case) {
      case 'task':
        return `task:${stateOf(payload.value)}`;
      case 'statusUpdate':
        return `status:${stateOf(payload.value)}`;
      case 'artifactUpdate':
        return `artifact:${payload.value.artifact?.artifactId}`;
      default:
        return 'message';
    }
  });
}
