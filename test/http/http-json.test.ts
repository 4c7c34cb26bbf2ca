import {
  ContentTypeNotSupportedError,
  PushNotificationNotSupportedError,
  restStatusFor,
  TaskNotCancelableError,
  TaskNotFoundError,
  toRestErrorBody,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from '@a2a-js/sdk/errors';
import { expect, test } from 'vitest';
import { EXTENSION } from '../../src/core/extensions/index.ts';
import { reply } from '../../src/testing/index.ts';
import { collect, messageText, outline, sdkClient, stateOf } from '../support/client.ts';
import { startTestHarness } from '../support/harness.ts';
import { answerOf, briefs, get, inState, type Json, openStream, post, rpc, say, taskOf } from './raw.ts';

const alice = { participant: 'alice' };
const rest = { ...alice, binding: 'HTTP+JSON' } as const;

test('the official client talks over HTTP+JSON as over JSON-RPC', async () => {
  const { url } = await startTestHarness([reply('One.'), reply('Two.')]);
  const client = await sdkClient(url, 'alice', [], 'HTTP+JSON');
  expect(client.sdk.transport.protocolName).toBe('HTTP+JSON');
  const task = await client.send({ text: 'Hi' });
  expect([stateOf(task), messageText(task.status?.message)]).toEqual(['INPUT_REQUIRED', 'One.']);

  const following = client.sdk.resubscribeTask({ id: task.id, tenant: '' });
  expect(outline([(await following.next()).value as never])).toEqual(['task:INPUT_REQUIRED']);
  const streamed = await collect(client.stream({ text: 'More', taskId: task.id }));
  expect([...new Set(outline(streamed))]).toEqual([
    'task:INPUT_REQUIRED',
    'status:WORKING',
    'artifact:response:2',
    'status:INPUT_REQUIRED',
  ]);

  const { tasks, totalSize } = await client.sdk.listTasks({
    ...emptyList,
    contextId: task.contextId,
    historyLength: 1,
    includeArtifacts: true,
  });
  expect([totalSize, tasks.map(({ id }) => id)]).toEqual([1, [task.id]]);
  expect(tasks[0]?.history.map(messageText)).toEqual(['Two.']);
  expect(tasks[0]?.artifacts.map(({ artifactId }) => artifactId)).toEqual(['response:1', 'response:2']);

  const canceled = await client.sdk.cancelTask({ id: task.id, tenant: '', metadata: undefined });
  expect(stateOf(canceled)).toBe('CANCELED');
  expect(outline(await collect(following)).at(-1)).toBe('status:CANCELED');
  expect((await client.task(task.id, 0)).history).toEqual([]);
  await expect(client.task('none')).rejects.toBeInstanceOf(TaskNotFoundError);
});

const emptyList = {
  tenant: '',
  contextId: '',
  status: 0,
  pageSize: undefined,
  pageToken: '',
  historyLength: undefined,
  statusTimestampAfter: undefined,
  includeArtifacts: undefined,
};

test("answers are the same over both bindings, and their type is A2A's own over HTTP+JSON", async () => {
  const { url } = await startTestHarness([reply('One.')]);
  const sent = await answerOf(await post(`${url}message:send`, JSON.stringify(say('Hi')), alice));
  expect(sent.headers.get('content-type')).toBe('application/a2a+json');
  const task = taskOf(sent);
  for (const [method, params] of [
    ['GetTask', { id: task.id, historyLength: 1 }],
    ['ListTasks', { includeArtifacts: true, historyLength: 2, pageSize: 7 }],
  ] as const) {
    const over = await rpc(url, method, params, rest);
    expect(over.result, method).toEqual((await rpc(url, method, params, alice)).result);
    expect(over.headers.get('content-type')).toBe('application/a2a+json');
  }
});

test("a body may say that it is A2A's own JSON, and extensions are activated and echoed", async () => {
  const { url } = await startTestHarness([reply('One.')]);
  const headers = { 'content-type': 'application/a2a+json; charset=utf-8' };
  const extensions = [EXTENSION.task, 'urn:unknown'];
  const answer = await post(`${url}message:send`, JSON.stringify(say('Hi')), {
    ...alice,
    headers,
    extensions,
  });
  expect([answer.status, answer.headers.get('a2a-extensions')]).toEqual([200, EXTENSION.task]);
});

test('a subscription answers GET and POST, with no body whatever its type says', async () => {
  const { url } = await startTestHarness([reply('One.')]);
  const { id } = taskOf(await rpc(url, 'SendMessage', say('Hi'), alice));
  const path = `${url}tasks/${id}:subscribe`;
  const gone = new AbortController();
  for (const response of [
    await get(path, alice, gone.signal),
    await post(path, '', alice, gone.signal),
    await post(path, '{}', alice, gone.signal),
    await post(path, '', { ...alice, headers: { 'content-type': 'text/plain' } }, gone.signal),
  ]) {
    expect(response.headers.get('content-type')).toBe('text/event-stream');
  }
  gone.abort();
});

test('events are bare, in the order and under the ids of JSON-RPC', async () => {
  const { url } = await startTestHarness([reply('One.'), reply('Two.')]);
  const { id } = taskOf(await rpc(url, 'SendMessage', say('Hi'), alice));
  const streams = await Promise.all(
    [rest, alice].map((options) => openStream(url, 'SubscribeToTask', { id }, options)),
  );
  for (const stream of streams) {
    const [first] = await stream.until(() => true);
    expect(Object.keys(first?.result ?? {})).toEqual(['task']);
  }
  const sending = await openStream(url, 'SendStreamingMessage', say('More', { taskId: id }), rest);
  expect(briefs(await sending.rest()).at(-1)).toBe('status:INPUT_REQUIRED');
  const [over, under] = await Promise.all(streams.map((stream) => stream.until(inState('INPUT_REQUIRED'))));
  expect(over?.length).toBeGreaterThan(2);
  expect(over).toEqual(under);
  for (const stream of streams) stream.drop();
});

test('a stream resumes over the other binding', async () => {
  const { url } = await startTestHarness([reply('One.')]);
  const { id } = taskOf(await rpc(url, 'SendMessage', say('Hi'), alice));
  const headers = { 'last-event-id': '2' };
  const [one, two] = await Promise.all(
    [rest, alice].map(async (options) => {
      const stream = await openStream(url, 'SubscribeToTask', { id }, { ...options, headers });
      return stream.until(inState('INPUT_REQUIRED'));
    }),
  );
  expect(one?.map((event) => event.id)).toEqual([3, 4, 5]);
  expect(one).toEqual(two);
});

test('a path knows its verbs, forgives doubled slashes, and decodes what it names', async () => {
  const { url } = await startTestHarness([reply('One.')], {
    settings: { server: { base_url: 'http://x.example/agents/a' } },
  });
  const base = `${url}agents/a`;
  const sent = await post(`${base}//message:send`, JSON.stringify(say('Hi')), alice);
  const { id } = taskOf(await answerOf(sent));
  expect((await get(`${base}//tasks//${id}`, alice)).status).toBe(200);
  for (const [path, method, allow] of [
    ['message:send', 'GET', 'POST'],
    ['tasks', 'POST', 'GET'],
    [`tasks/${id}`, 'DELETE', 'GET'],
    [`tasks/${id}:subscribe`, 'PUT', 'GET, POST'],
  ] as const) {
    const response = await fetch(`${base}/${path}`, { method, headers: { 'a2a-version': '1.0' } });
    expect.soft([response.status, response.headers.get('allow')], path).toEqual([405, allow]);
    expect.soft((await answerOf(response)).error?.data[0]?.reason, path).toBe('METHOD_NOT_ALLOWED');
  }
  expect((await get(`${base}/tasks/${String(id).replace('-', '%2D')}`, alice)).status).toBe(200);
  expect((await get(`${base}/tasks/%E0%A4%A`, alice)).status).toBe(400);
  expect((await get(`${base}/tasks/a%2Fb`, alice)).status).toBe(404);
  const nowhere = await get(`${base}/nothing`, alice);
  expect([nowhere.status, await nowhere.json()]).toEqual([
    404,
    { error: 'there is nothing at /agents/a/nothing' },
  ]);
});

test('the version may stand in the query, and what is empty there was not said', async () => {
  const { url } = await startTestHarness([reply('One.')]);
  await rpc(url, 'SendMessage', say('Hi'), alice);
  const options = { ...alice, version: null };
  const { result } = await answerOf(await get(`${url}tasks?A2A-Version=1.0&pageSize=&status=`, options));
  expect(result).toMatchObject({ pageSize: 50, totalSize: 1 });
});

test('an error is a google.rpc.Status, with the status the SDK has for it', async () => {
  const { url } = await startTestHarness([reply('One.')]);
  const single = say('Do', { metadata: { conversation: 'single' } });
  const { id } = taskOf(await rpc(url, 'SendMessage', single, alice));
  const push = { method: 'DELETE', headers: { 'a2a-version': '1.0' } };
  for (const [error, response] of [
    [new TaskNotFoundError(), await get(`${url}tasks/none`, alice)],
    [new TaskNotCancelableError(), await post(`${url}tasks/${id}:cancel`, '', alice)],
    [new UnsupportedOperationError(), await get(`${url}extendedAgentCard`, alice)],
    [new PushNotificationNotSupportedError(), await fetch(`${url}tasks/x/pushNotificationConfigs/y`, push)],
    [new VersionNotSupportedError(), await get(`${url}tasks`, { ...alice, version: '0.3' })],
    [
      new ContentTypeNotSupportedError(),
      await post(`${url}message:send`, 'x', { ...alice, headers: { 'content-type': 'text/plain' } }),
    ],
  ] as const) {
    const body = (await response.json()) as { error: Json };
    const expected = toRestErrorBody(error, restStatusFor(error)).error;
    expect.soft(response.headers.get('content-type')).toBe('application/a2a+json');
    expect.soft(response.status).toBe(expected.code);
    expect.soft(body.error, error.name).toMatchObject({
      code: expected.code,
      status: expected.status,
      details: [{ '@type': expected.details[0]?.['@type'], reason: expected.details[0]?.reason }],
    });
  }
});
