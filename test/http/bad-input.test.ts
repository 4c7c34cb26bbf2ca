import { expect, test } from 'vitest';
import { reply, ScriptedLlm } from '../../src/testing/index.ts';
import { startTestHarness } from '../support/harness.ts';
import {
  answerOf,
  BINDINGS,
  channelPart,
  eventPart,
  type Json,
  post,
  rawState,
  rpc,
  say,
  taskOf,
} from './raw.ts';

const alice = { participant: 'alice' };
const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] };
const control = eventPart({ kind: 'control', action: 'complete' });
const goal = { name: 'n', goal: 'g' };

function task(payload: Json): Json {
  return { message: { ...message, parts: [eventPart({ kind: 'task', payload })] } };
}

/** Parameters of a send that are wrong, and the field that says so. */
const wrong: readonly (readonly [string, unknown, string])[] = [
  ['no parameters', undefined, 'params'],
  ['a list of parameters', [message], 'params'],
  ['no message', {}, 'message'],
  ['a message that is a text', { message: 'Hi' }, 'message'],
  ['no message id', { message: { ...message, messageId: undefined } }, 'message.messageId'],
  ['an empty message id', { message: { ...message, messageId: '' } }, 'message.messageId'],
  [
    'a message id of a thousand letters',
    { message: { ...message, messageId: 'm'.repeat(1000) } },
    'message.messageId',
  ],
  ['no role', { message: { ...message, role: undefined } }, 'message.role'],
  ['a role that does not exist', { message: { ...message, role: 'ROLE_KING' } }, 'message.role'],
  ['the role of the agent', { message: { ...message, role: 'ROLE_AGENT' } }, 'message.role'],
  ['no parts', { message: { ...message, parts: undefined } }, 'message.parts'],
  ['an empty list of parts', { message: { ...message, parts: [] } }, 'message.parts'],
  ['parts that are a text', { message: { ...message, parts: 'x' } }, 'message.parts'],
  ['a part that is null', { message: { ...message, parts: [null] } }, 'message.parts[0]'],
  ['a part without content', { message: { ...message, parts: [{ text: 'x' }, {}] } }, 'message.parts[1]'],
  ['a text that is a number', { message: { ...message, parts: [{ text: 5 }] } }, 'message.parts[0].text'],
  ['nothing but blanks', { message: { ...message, parts: [{ text: ' \n' }] } }, 'message.parts'],
  ['a task id that is a number', { message: { ...message, taskId: 5 } }, 'message.taskId'],
  ['metadata that are a list', { message: { ...message, metadata: [] } }, 'message.metadata'],
  [
    'a participant that is a number',
    { message: { ...message, metadata: { participant_id: 5 } } },
    'message.metadata.participant_id',
  ],
  ['extensions that are a text', { message: { ...message, extensions: 'urn:x' } }, 'message.extensions'],
  [
    'a negative history length',
    { message, configuration: { historyLength: -1 } },
    'configuration.historyLength',
  ],
  [
    'a flag that is a text',
    { message, configuration: { returnImmediately: 'yes' } },
    'configuration.returnImmediately',
  ],
  [
    'an envelope of no kind',
    { message: { ...message, parts: [eventPart({})] } },
    'message.parts[0].data.kind',
  ],
  [
    'an envelope of an unknown kind',
    { message: { ...message, parts: [eventPart({ kind: 'party' })] } },
    'message.parts[0].data.kind',
  ],
  [
    'an unknown control',
    { message: { ...message, parts: [eventPart({ kind: 'control', action: 'explode' })] } },
    'message.parts[0].data.action',
  ],
  [
    'an envelope that is a text',
    { message: { ...message, parts: [{ ...control, data: 'x' }] } },
    'message.parts[0].data',
  ],
  [
    'an envelope in a text part',
    { message: { ...message, parts: [{ text: '{}', mediaType: control.mediaType }] } },
    'message.parts[0].data',
  ],
  ['two envelopes', { message: { ...message, parts: [control, control] } }, 'message.parts[1]'],
  ['a task without a goal', task({ name: 'n' }), 'message.parts[0].data.payload.goal'],
  ['a task without a name', task({ goal: 'g' }), 'message.parts[0].data.payload.name'],
  ['a task with a field of no meaning', task({ ...goal, color: 'red' }), 'message.parts[0].data.payload'],
  [
    'a participant of no known role',
    task({ ...goal, participants: [{ id: 'a', kind: 'human', role: 'king' }] }),
    'message.parts[0].data.payload.participants[0].role',
  ],
  [
    'one participant with two roles',
    task({ ...goal, participants: ['watcher', 'admin'].map((role) => ({ id: 'a', role })) }),
    'message.parts[0].data.payload.participants',
  ],
  [
    'a channel part without a channel',
    { message: { ...message, parts: [channelPart({ sender: 'alice', kind: 'message' })] } },
    'message.parts[0].data.channel_id',
  ],
  [
    'a channel part with a key of no meaning',
    {
      message: {
        ...message,
        parts: [channelPart({ channel_id: 'c', sender: 'alice', kind: 'message', x: 1 })],
      },
    },
    'message.parts[0].data',
  ],
];

test('a message of a wrong shape is refused, and the answer names the field', async () => {
  const llm = new ScriptedLlm([]);
  const { url } = await startTestHarness(llm);
  const ways = BINDINGS.flatMap((binding) =>
    ['SendMessage', 'SendStreamingMessage'].map((method) => ({ binding, method })),
  );
  for (const { binding, method } of ways) {
    for (const [name, params, field] of wrong) {
      const what = `${binding} ${method}: ${name}`;
      // Parameters are the whole body of HTTP+JSON: one that is no object is no request.
      if (binding === 'HTTP+JSON' && field === 'params') continue;
      const { status, error } = await rpc(url, method, params, { ...alice, binding });
      expect.soft([status, error?.code], what).toEqual([binding === 'JSONRPC' ? 200 : 400, -32602]);
      expect.soft(error?.data, what).toEqual([
        {
          '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
          reason: 'INVALID_PARAMS',
          domain: 'a2a-protocol.org',
          metadata: {},
        },
        {
          '@type': 'type.googleapis.com/google.rpc.BadRequest',
          fieldViolations: [{ field, description: expect.stringContaining(field) }],
        },
      ]);
    }
  }
  expect(llm.requests).toHaveLength(0);
});

test('a file is refused with the reason that files are off', async () => {
  const { url } = await startTestHarness([]);
  for (const part of [
    { raw: 'aGk=', filename: 'hi.txt', mediaType: 'text/plain' },
    { url: 'https://example.com/hi.txt', mediaType: 'text/plain' },
    { raw: 5 },
  ]) {
    const { error } = await rpc(
      url,
      'SendMessage',
      { message: { ...message, parts: [{ text: 'See' }, part] } },
      alice,
    );
    expect(error).toMatchObject({
      code: -32602,
      data: [{ metadata: { reason: 'media_off' } }, { fieldViolations: [{ field: 'message.parts[1]' }] }],
    });
  }
});

test('an operation on a task needs the id of one', async () => {
  const { url } = await startTestHarness([]);
  for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask']) {
    for (const params of [undefined, {}, { id: '' }, { id: 7 }]) {
      const { error } = await rpc(url, method, params, alice);
      const field = params === undefined ? 'params' : 'id';
      expect.soft(error, `${method} ${JSON.stringify(params)}`).toMatchObject({
        code: -32602,
        data: [{}, { fieldViolations: [{ field }] }],
      });
    }
  }
  const { error } = await rpc(url, 'GetTask', { id: 'x', historyLength: 1.5 }, alice);
  expect(error).toMatchObject({
    code: -32602,
    data: [{}, { fieldViolations: [{ field: 'historyLength' }] }],
  });
});

test('unknown fields are ignored', async () => {
  const { url } = await startTestHarness([reply('Hello.')]);
  const odd = { ...say('Hi', { mood: 'good', parts: [{ text: 'Hi', colour: 'red' }] }), extra: { a: 1 } };
  expect(rawState(taskOf(await rpc(url, 'SendMessage', odd, alice)))).toBe('INPUT_REQUIRED');
});

test('what is not a JSON-RPC request says what it is instead', async () => {
  const { url } = await startTestHarness([]);
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  for (const [body, code, reason, id] of [
    ['', -32700, 'PARSE_ERROR', null],
    ['{"jsonrpc":', -32700, 'PARSE_ERROR', null],
    ['[]', -32600, 'INVALID_REQUEST', null],
    ['"hi"', -32600, 'INVALID_REQUEST', null],
    ['null', -32600, 'INVALID_REQUEST', null],
    ['{"id":7,"method":"GetTask"}', -32600, 'INVALID_REQUEST', 7],
    ['{"jsonrpc":"2.0","id":7}', -32600, 'INVALID_REQUEST', 7],
    ['{"jsonrpc":"2.0","id":"a","method":5}', -32600, 'INVALID_REQUEST', 'a'],
    ['{"jsonrpc":"2.0","id":{},"method":"GetTask"}', -32600, 'INVALID_REQUEST', null],
    [`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":${deep}}`, -32600, 'INVALID_REQUEST', null],
    ['{"jsonrpc":"2.0","id":7,"method":"NoSuchThing","params":{}}', -32601, 'METHOD_NOT_FOUND', 7],
    ['{"jsonrpc":"2.0","id":7,"method":"__proto__","params":{}}', -32601, 'METHOD_NOT_FOUND', 7],
    ['{"jsonrpc":"2.0","id":7,"method":"message/send","params":{}}', -32601, 'METHOD_NOT_FOUND', 7],
  ] as const) {
    const response = await post(url, body, alice);
    const what = body.slice(0, 60);
    expect.soft(response.headers.get('content-type'), what).toBe('application/json');
    expect.soft(await response.json(), what).toMatchObject({
      jsonrpc: '2.0',
      id,
      error: { code, data: [{ reason, domain: 'a2a-protocol.org' }] },
    });
  }
});

test('a version that is not 1.0 is refused, naming the one that is', async () => {
  const { url } = await startTestHarness([]);
  for (const version of [null, '', '0.3', '1.1', '2.0', '1', '1.0.x', '11.0']) {
    const { error } = await rpc(url, 'GetTask', { id: 'x' }, { ...alice, version });
    expect
      .soft(error, String(version))
      .toMatchObject({ code: -32009, data: [{ reason: 'VERSION_NOT_SUPPORTED' }] });
    expect.soft(error?.message).toContain('1.0');
  }
  for (const version of ['1.0', '1.0.0', '1.0.3']) {
    const { error } = await rpc(url, 'GetTask', { id: 'x' }, { ...alice, version });
    expect.soft(error?.code, version).toBe(-32001);
  }
  const query = await rpc(`${url}?A2A-Version=1.0.3`, 'GetTask', { id: 'x' }, { ...alice, version: null });
  expect(query.error?.code).toBe(-32001);
});

test('a body that is too large is not read', async () => {
  const { url } = await startTestHarness([reply('Hello.')], {
    settings: { server: { max_request_bytes: 2000 } },
  });
  const large = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'SendMessage',
    params: say('x'.repeat(2000)),
  });
  const whole = await answerOf(await post(url, large, alice));
  expect([whole.status, whole.error?.code]).toEqual([413, -32600]);
  expect(whole.error?.message).toContain('server.max_request_bytes');

  const pieces = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < large.length; at += 500)
        controller.enqueue(new TextEncoder().encode(large.slice(at, at + 500)));
      controller.close();
    },
  });
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-participant-id': 'alice' };
  const chunked = await fetch(url, { method: 'POST', headers, body: pieces, duplex: 'half' });
  expect(chunked.status).toBe(413);
  expect((await rpc(url, 'SendMessage', say('small'), alice)).error).toBeUndefined();
});

test('names of JavaScript and odd characters are data like any other', async () => {
  const llm = new ScriptedLlm([reply('Noted.')]);
  const { url } = await startTestHarness(llm);
  const body = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m-1",
    "role":"ROLE_USER","metadata":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}},
    "parts":[{"text":"a\\u0000b \\ud800 c \\udc00 \\ud83d\\ude00"},{"data":{"__proto__":{"polluted":true},"\\ud800":1}}]}}}`;
  const task = taskOf(await answerOf(await post(url, body, alice)));
  expect(({} as Json).polluted).toBeUndefined();
  const [first] = task.history as { parts: Json[] }[];
  expect(first?.parts[0]?.text).toBe('a\u0000b \ufffd c \ufffd 😀');
  expect(JSON.stringify(llm.requests[0]?.input).isWellFormed()).toBe(true);
  expect(taskOf(await rpc(url, 'GetTask', { id: task.id }, alice))).toEqual(task);
  expect(taskOf(await answerOf(await post(url, body, alice)))).toEqual(task);
});

test('ids of every kind of character come back as they were', async () => {
  const { url } = await startTestHarness((_request, number) => reply(`Reply ${number}.`));
  for (const messageId of ["'; drop table inbox; --", 'a\u0000b', 'ünï😀', '../../x', '__proto__', '%00']) {
    const task = taskOf(await rpc(url, 'SendMessage', say('Hi', { messageId, contextId: messageId }), alice));
    const [first] = task.history as Json[];
    expect.soft([first?.messageId, task.contextId]).toEqual([messageId, messageId]);
    const { error } = await rpc(url, 'GetTask', { id: messageId }, alice);
    expect.soft(error?.code, messageId).toBe(-32001);
  }
});

test('a push configuration in a send is not silently dropped', async () => {
  const { url } = await startTestHarness([]);
  const params = say('Hi', {}, { taskPushNotificationConfig: { url: 'https://example.com/hook' } });
  expect((await rpc(url, 'SendMessage', params, alice)).error?.code).toBe(-32003);
});
