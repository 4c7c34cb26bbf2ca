import { describe, expect, test } from 'vitest';
import { reply } from '../../src/testing/index.ts';
import { startTestHarness } from '../support/harness.ts';
import {
  BINDINGS,
  channelPart,
  eventPart,
  type Json,
  openStream,
  post,
  type RawOptions,
  rpc,
  say,
  taskFor,
  taskOf,
} from './raw.ts';

const NONE = '00000000-0000-8000-8000-000000000000';
const single = { metadata: { conversation: 'single' } };
const complete = { parts: [eventPart({ kind: 'control', action: 'complete' })] };

/** Tasks of alice that wanda watches. */
interface Tasks {
  readonly open: string;
  readonly completed: string;
  readonly agent: string;
}

interface Refusal {
  readonly what: string;
  readonly call: (tasks: Tasks) => readonly [method: string, params: Json];
  /** Default: alice. Null: nobody. */
  readonly by?: string | null | ((tasks: Tasks) => string);
  readonly options?: RawOptions;
  readonly code: number;
  /** HTTP+JSON's status. */
  readonly http: number;
  readonly reason: string;
  readonly field?: string;
  readonly says?: string;
}

const invalid = { code: -32602, http: 400, reason: 'INVALID_PARAMS' };
const notFound = { code: -32001, http: 404, reason: 'TASK_NOT_FOUND' };
const unsupported = { code: -32004, http: 400, reason: 'UNSUPPORTED_OPERATION' };

/** Every operation on a task. */
const operations: readonly (readonly [string, (id: string) => Json])[] = [
  ['GetTask', (id) => ({ id })],
  ['CancelTask', (id) => ({ id })],
  ['SubscribeToTask', (id) => ({ id })],
  ['SendMessage', (taskId) => say('Hi', { taskId })],
  ['SendStreamingMessage', (taskId) => say('Hi', { taskId })],
];

const REFUSALS: readonly Refusal[] = [
  {
    what: 'a send with nobody named',
    call: () => ['SendMessage', say('Hi')],
    by: null,
    ...invalid,
    field: 'message.metadata.participant_id',
    says: 'server.default_participant',
  },
  {
    what: 'header and metadata naming two people',
    call: () => ['SendMessage', say('Hi', { metadata: { participant_id: 'bob' } })],
    ...invalid,
    field: 'message.metadata.participant_id',
    says: '"bob"',
  },
  {
    what: "a context that is not the task's",
    call: ({ open }) => ['SendMessage', say('Hi', { taskId: open, contextId: 'other' })],
    ...invalid,
    field: 'message.contextId',
  },
  {
    what: 'one message id with two bodies',
    call: () => ['SendMessage', say('Something else', { messageId: 'open' })],
    ...invalid,
    reason: 'MESSAGE_ID_REUSED',
  },
  ...operations.flatMap(([method, params]): Refusal[] => [
    { what: `${method} by nobody`, call: ({ open }) => [method, params(open)], by: null, ...notFound },
    {
      what: `${method} by a stranger`,
      call: ({ open }) => [method, params(open)],
      by: 'mallory',
      ...notFound,
    },
    { what: `${method} of a task that is not there`, call: () => [method, params(NONE)], ...notFound },
    {
      what: `${method} by somebody with the agent's own id`,
      call: ({ open }) => [method, params(open)],
      by: ({ agent }) => agent,
      ...invalid,
      field: 'participant',
      says: 'agent.id',
    },
  ]),
  { what: 'ListTasks by nobody', call: () => ['ListTasks', {}], by: null, ...notFound },
  {
    what: "ListTasks by somebody with the agent's own id",
    call: () => ['ListTasks', {}],
    by: ({ agent }) => agent,
    ...invalid,
    field: 'participant',
  },
  {
    what: 'control without a task',
    call: () => ['SendMessage', say('', complete)],
    ...unsupported,
    says: 'taskId',
  },
  {
    what: 'control by a watcher',
    call: ({ open }) => ['SendMessage', say('', { ...complete, taskId: open })],
    by: 'wanda',
    ...unsupported,
    says: 'watcher',
  },
  {
    what: 'cancel by a watcher',
    call: ({ open }) => ['CancelTask', { id: open }],
    by: 'wanda',
    ...unsupported,
    says: 'watcher',
  },
  {
    what: 'a message to an ended task',
    call: ({ completed }) => ['SendMessage', say('More', { taskId: completed })],
    ...unsupported,
    says: 'COMPLETED',
  },
  {
    what: 'a stream of a message to an ended task',
    call: ({ completed }) => ['SendStreamingMessage', say('More', { taskId: completed })],
    ...unsupported,
    says: 'COMPLETED',
  },
  {
    what: 'a subscription to an ended task',
    call: ({ completed }) => ['SubscribeToTask', { id: completed }],
    ...unsupported,
    says: 'COMPLETED',
  },
  {
    what: 'cancel of a task that is done',
    call: ({ completed }) => ['CancelTask', { id: completed }],
    code: -32002,
    http: 400,
    reason: 'TASK_NOT_CANCELABLE',
  },
  {
    what: 'an envelope of a wrong shape',
    call: () => ['SendMessage', say('', { parts: [eventPart({ kind: 'party' })] })],
    ...invalid,
    field: 'message.parts[0].data.kind',
  },
  {
    what: 'a channel part from somebody else',
    call: ({ open }) => [
      'SendMessage',
      say('', {
        taskId: open,
        parts: [channelPart({ channel_id: open, sender: 'bob', kind: 'message', text: 'x' })],
      }),
    ],
    ...invalid,
    field: 'message.parts',
  },
  {
    what: "a field of the server's from somebody who is not trusted",
    call: () => ['SendMessage', say('', { parts: [taskFor({}, { lifecycle: 'delegated' })] })],
    ...unsupported,
  },
  {
    what: 'a file',
    call: () => ['SendMessage', say('', { parts: [{ raw: 'aGk=', mediaType: 'image/png' }] })],
    ...invalid,
    field: 'message.parts[0]',
  },
  {
    what: 'a push configuration in a send',
    call: () => ['SendMessage', say('Hi', {}, { taskPushNotificationConfig: { url: 'https://a.example' } })],
    code: -32003,
    http: 400,
    reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
  },
  ...[null, '0.3', '1.1'].map(
    (version): Refusal => ({
      what: `version ${version}`,
      call: ({ open }) => ['GetTask', { id: open }],
      options: { version },
      code: -32009,
      http: 400,
      reason: 'VERSION_NOT_SUPPORTED',
      says: '1.0',
    }),
  ),
  {
    what: 'a body that is no JSON by its type',
    call: () => ['SendMessage', say('Hi')],
    options: { headers: { 'content-type': 'text/plain' } },
    code: -32005,
    http: 400,
    reason: 'CONTENT_TYPE_NOT_SUPPORTED',
    says: 'application/json',
  },
];

const alice = { participant: 'alice' };

async function prepared() {
  const { url, agentId: agent } = await startTestHarness([reply('One.'), reply('Two.')]);
  const watched = { messageId: 'open', parts: [taskFor({ wanda: 'watcher' })] };
  const open = taskOf(await rpc(url, 'SendMessage', say('', watched), alice));
  const completed = taskOf(await rpc(url, 'SendMessage', say('Do', single), alice));
  return { url, tasks: { open: String(open.id), completed: String(completed.id), agent } };
}

describe.each(BINDINGS)('over %s', (binding) => {
  test('every refusal has its code, its status, its reason and its field, and changes nothing', async () => {
    const { url, tasks } = await prepared();
    const listed = async () => (await rpc(url, 'ListTasks', { historyLength: 9 }, alice)).result;
    const before = await listed();
    for (const refusal of REFUSALS) {
      const by = typeof refusal.by === 'function' ? refusal.by(tasks) : refusal.by;
      const who = by === null ? {} : { participant: by ?? 'alice' };
      const [method, params] = refusal.call(tasks);
      const answer = await rpc(url, method, params, { ...who, ...refusal.options, binding });
      const status = binding === 'JSONRPC' ? 200 : refusal.http;
      expect.soft([answer.status, answer.error?.code], refusal.what).toEqual([status, refusal.code]);
      expect.soft(answer.error?.data[0], refusal.what).toMatchObject({
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: refusal.reason,
        domain: 'a2a-protocol.org',
      });
      expect.soft(answer.error?.message, refusal.what).toContain(refusal.says ?? '');
      const [, violations] = answer.error?.data ?? [];
      const field = (violations?.fieldViolations as Json[] | undefined)?.[0]?.field;
      expect.soft(field, refusal.what).toBe(refusal.field);
    }
    expect(await listed()).toEqual(before);
  });

  test('what was canceled can be canceled again', async () => {
    const { url, tasks } = await prepared();
    const once = await rpc(url, 'CancelTask', { id: tasks.open }, { ...alice, binding });
    const twice = await rpc(url, 'CancelTask', { id: tasks.open }, { ...alice, binding });
    expect(taskOf(twice)).toEqual(taskOf(once));
  });

  test('a body that is too large, no JSON or no object is told so', async () => {
    const { url } = await startTestHarness([], { settings: { server: { max_request_bytes: 2000 } } });
    const address = binding === 'JSONRPC' ? url : `${url}message:send`;
    const deep = `${'['.repeat(900)}${']'.repeat(900)}`;
    for (const [body, status, reason] of [
      ['{', 400, 'PARSE_ERROR'],
      ['[]', 400, 'INVALID_REQUEST'],
      ['"hi"', 400, 'INVALID_REQUEST'],
      ['null', 400, 'INVALID_REQUEST'],
      [deep, 400, 'INVALID_REQUEST'],
      [`{"a":"${'x'.repeat(2000)}"}`, 413, 'REQUEST_TOO_LARGE'],
    ] as const) {
      const response = await post(address, body, alice);
      const what = body.slice(0, 40);
      expect.soft(response.status, what).toBe(binding === 'JSONRPC' && status === 400 ? 200 : status);
      expect.soft(await response.text(), what).toContain(`"reason":"${reason}"`);
    }
  });

  test('a stream that cannot begin is an ordinary error', async () => {
    const { url, tasks } = await prepared();
    const stream = await openStream(url, 'SubscribeToTask', { id: tasks.completed }, { ...alice, binding });
    expect(stream.response.headers.get('content-type')).toMatch(/^application\//);
    expect((await stream.rest()).map(({ error }) => error?.code)).toEqual([-32004]);
  });
});
