import { expect, test, vi } from 'vitest';
import { ConfigError, createAbort, ProviderError, RetryableProviderError } from '../../../core/base/index.ts';
import { invokeLlm, type LlmRequest } from '../../../core/models/index.ts';
import { Secret } from '../../../core/security/index.ts';
import type { ModelReply } from '../../../testing/index.ts';
import { startModelServer } from '../../../testing/index.ts';
import { type ChatCompletionsOptions, createChatCompletionsLlm } from './client.ts';
import { retryAfter } from './errors.ts';

const request: LlmRequest = { instructions: '', input: [{ type: 'user', text: 'hi' }], tools: [] };
const never = createAbort().signal;

function llmWith(options: Partial<ChatCompletionsOptions>) {
  return createChatCompletionsLlm({ model: 'test-model', timeoutMs: 5000, maxOutputTokens: 100, ...options });
}

/** The error of one request to a server with this reply. */
async function errorOf(reply: ModelReply, options: Partial<ChatCompletionsOptions> = {}): Promise<unknown> {
  await using server = await startModelServer({ replies: [reply] });
  return await invokeLlm(llmWith({ baseUrl: server.url, ...options }), request, never).then(
    (response) => expect.fail(`answered ${JSON.stringify(response)}`),
    (error: unknown) => error,
  );
}

test('MD-6 the description names endpoint, api and model', () => {
  expect(llmWith({ baseUrl: 'http://127.0.0.1:8080/v1' }).description).toBe(
    'model endpoint http://127.0.0.1:8080 api=chat_completions model=test-model',
  );
  expect(llmWith({}).description).toBe(
    'model endpoint https://api.openai.com api=chat_completions model=test-model',
  );
});

test('MD-5 nothing of the environment reaches the endpoint, and no key means no Authorization', async () => {
  await using server = await startModelServer({ replies: [{ text: 'ok' }] });
  vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:1/v1');
  vi.stubEnv('OPENAI_ORG_ID', 'org-env');
  vi.stubEnv('OPENAI_PROJECT_ID', 'proj-env');
  vi.stubEnv('OPENAI_API_KEY', 'sk-env');
  vi.stubEnv('OPENAI_ADMIN_KEY', 'sk-admin-env');
  vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'Authorization: Bearer sk-env\nX-From-Env: yes');
  try {
    await invokeLlm(llmWith({ baseUrl: server.url }), request, never);
  } finally {
    vi.unstubAllEnvs();
  }
  const headers = server.requests[0]?.headers ?? {};
  expect(headers).not.toHaveProperty('authorization');
  expect(Object.keys(headers).filter((name) => /openai|stainless|from-env/.test(name))).toEqual([]);
  expect(JSON.stringify(headers)).not.toContain('env');
});

test('MD-5 without a base URL requests go to OpenAI, whatever the environment says', async () => {
  vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:1/v1');
  const urls: string[] = [];
  const llm = llmWith({
    apiKey: new Secret('sk-test'),
    fetch: (input) => {
      urls.push(input instanceof Request ? input.url : input.toString());
      return Promise.resolve(new Response('{}', { status: 400 }));
    },
  });
  vi.unstubAllEnvs();
  await expect(invokeLlm(llm, request, never)).rejects.toThrow(ProviderError);
  expect(urls).toEqual(['https://api.openai.com/v1/chat/completions']);
});

test('MD-5 a key is sent to a loopback endpoint', async () => {
  await using server = await startModelServer({ replies: [{ text: 'ok' }] });
  await invokeLlm(llmWith({ baseUrl: server.url, apiKey: new Secret('sk-test') }), request, never);
  expect(server.requests[0]?.headers.authorization).toBe('Bearer sk-test');
});

test.each([
  ['http://models.example/v1', 'sk-test'],
  ['http://127.0.0.1.example/v1', 'sk-test'],
  ['http://10.0.0.5:8080/v1', 'sk-test'],
  ['https://user:pass@models.example/v1', undefined],
  ['ftp://models.example', undefined],
  ['models.example/v1', undefined],
  ['https://models.example/v1', 'sk-test\nX-Evil: 1'],
  ['https://models.example/v1', ''],
])('MD-5 the endpoint %s with the key %j is refused', (baseUrl, key) => {
  const create = () => llmWith({ baseUrl, ...(key !== undefined && { apiKey: new Secret(key) }) });
  expect(create).toThrow(ConfigError);
  expect(create).not.toThrow(/sk-test|user:pass/);
});

test.each([
  'http://localhost:1234/v1',
  'http://127.0.0.9/v1',
  'http://[::1]:8080/v1',
  'https://models.example',
])('MD-5 a key may go to %s', (baseUrl) => {
  expect(llmWith({ baseUrl, apiKey: new Secret('sk-test') }).model).toBe('test-model');
});

test('MD-5 a redirect is an error and is not followed', async () => {
  await using target = await startModelServer({ replies: [{ text: 'stolen' }] });
  const error = await errorOf({
    fault: 'status',
    status: 307,
    headers: { location: `${target.url}/chat/completions` },
  });
  expect(error).toMatchObject({ code: 'provider.error', status: 307, retryable: false });
  expect(String(error)).toContain('redirects are not followed');
  expect(target.requests).toEqual([]);
});

test('MD-4 429 and 5xx may pass, with the wait the endpoint asked for', async () => {
  const limited = await errorOf({ fault: 'status', status: 429, headers: { 'retry-after': '7' }, body: {} });
  expect(limited).toBeInstanceOf(RetryableProviderError);
  expect(limited).toMatchObject({ status: 429, retryAfterMs: 7000, retryable: true });
  const broken = await errorOf({ fault: 'status', status: 503, body: 'down' });
  expect(broken).toMatchObject({ status: 503, retryAfterMs: undefined, retryable: true });
});

test('MD-4 Retry-After is read as seconds, as a date and in milliseconds', () => {
  const now = Date.UTC(2026, 0, 1);
  expect(retryAfter(new Headers({ 'retry-after': '1.5' }), now)).toBe(1500);
  expect(retryAfter(new Headers({ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }), now)).toBe(30_000);
  expect(retryAfter(new Headers({ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }), now)).toBe(0);
  expect(retryAfter(new Headers({ 'retry-after-ms': '250', 'retry-after': '9' }), now)).toBe(250);
  expect(retryAfter(new Headers({ 'retry-after': 'soon' }), now)).toBeUndefined();
  expect(retryAfter(undefined, now)).toBeUndefined();
});

test.each([400, 401, 404, 422])('MD-4 %i does not pass', async (status) => {
  const error = await errorOf({ fault: 'status', status, body: { error: { message: 'no' } } });
  expect(error).toBeInstanceOf(ProviderError);
  expect(error).toMatchObject({ code: 'provider.error', status, retryable: false });
});

test.each(['reset', 'reset_midway'] as const)(
  'MD-4 a connection that breaks (%s) may pass',
  async (fault) => {
    expect(await errorOf({ fault })).toMatchObject({ code: 'provider.retryable', status: undefined });
  },
);

test('MD-4 an endpoint nobody listens on may pass, and the message says so', async () => {
  const server = await startModelServer({ replies: [] });
  await server.close();
  const answer = invokeLlm(llmWith({ baseUrl: server.url }), request, never);
  await expect(answer).rejects.toThrow(/cannot be reached or broke off \(.*ECONNREFUSED/);
  await expect(answer).rejects.toBeInstanceOf(RetryableProviderError);
});

test('MD-4 an endpoint that does not begin to answer in time may pass', async () => {
  const hold = Promise.withResolvers<ModelReply>();
  await using server = await startModelServer({ replies: () => hold.promise });
  const answer = invokeLlm(llmWith({ baseUrl: server.url, timeoutMs: 50 }), request, never);
  await expect(answer).rejects.toThrow(/was silent for 50 ms/);
  await expect(answer).rejects.toBeInstanceOf(RetryableProviderError);
  hold.resolve({ text: 'too late' });
});

test.each<[string, ModelReply]>([
  ['JSON that breaks off', { fault: 'invalid_json' }],
  ['an event of another shape', { raw: ['data: {"choices": "none"}', ''] }],
  ['a web page', { raw: ['<html>', '<body>hello</body>'] }],
  ['a call without a name', { calls: [{ name: '', arguments: {} }] }],
])('MD-4 a 2xx answer that is %s is an error for good', async (_, reply) => {
  expect(await errorOf(reply)).toMatchObject({ code: 'provider.error', status: 200, retryable: false });
});

test('MD-4 an error inside a stream is mapped by its code or type', async () => {
  const inStream = (error: object) => errorOf({ raw: [`data: ${JSON.stringify({ error })}`, ''] });
  expect(await inStream({ code: 500, message: 'oops' })).toMatchObject({ status: 500, retryable: true });
  expect(await inStream({ type: 'server_error', message: 'oops' })).toMatchObject({ retryable: true });
  expect(await inStream({ type: 'invalid_request_error', message: 'no' })).toMatchObject({
    code: 'provider.error',
    retryable: false,
  });
});

test('an error is one short line that never holds the key, even when the server echoes it', async () => {
  const error = await errorOf(
    { fault: 'status', status: 401, body: `your key\nis sk-test ${'x'.repeat(5000)}` },
    { apiKey: new Secret('sk-test') },
  );
  const { message, cause } = error as ProviderError;
  expect(message).toContain('answered 401: your key is [secret] xxx');
  expect(message).toContain('check the API key');
  expect(message).not.toContain('\n');
  expect(message.length).toBeLessThan(600);
  expect(cause).toBeUndefined();
});

test('a refusal and a content filter finish as refusal, without calls', async () => {
  const calls = [{ name: 'f', arguments: {} }];
  await using server = await startModelServer({
    replies: [
      { refusal: 'I will not do that', calls },
      { text: 'as I was', calls, finishReason: 'content_filter' },
    ],
  });
  const llm = llmWith({ baseUrl: server.url });
  expect(await invokeLlm(llm, request, never)).toMatchObject({
    text: 'I will not do that',
    finish: 'refusal',
    calls: [],
  });
  expect(await invokeLlm(llm, request, never)).toMatchObject({ finish: 'refusal', calls: [] });
});

test('an empty answer is an answer', async () => {
  await using server = await startModelServer({ replies: [{}] });
  const response = await invokeLlm(llmWith({ baseUrl: server.url }), request, never);
  expect(response).toMatchObject({ text: '', calls: [], finish: 'stop', model: 'test-model' });
});

test('a request may name another model of the endpoint', async () => {
  await using server = await startModelServer({ replies: [{ text: 'ok' }] });
  const response = await invokeLlm(llmWith({ baseUrl: server.url }), { ...request, model: 'big' }, never);
  expect(response.model).toBe('big');
  expect(server.requests[0]?.body).toMatchObject({ model: 'big' });
});

test('aborting in the middle of an answer rejects with the reason and closes the connection', async () => {
  const hold = Promise.withResolvers<void>();
  await using server = await startModelServer({ replies: [{ text: 'hello', holdFinish: hold.promise }] });
  const cancel = createAbort();
  const reason = new Error('the task was canceled');
  const answer = invokeLlm(llmWith({ baseUrl: server.url }), request, cancel.signal, () =>
    cancel.abort(reason),
  );
  await expect(answer).rejects.toBe(reason);
  expect(await server.requests[0]?.closed).toBe(false);
  hold.resolve();
});

test('aborting before the endpoint answers rejects with the reason and closes the connection', async () => {
  const cancel = createAbort();
  const reason = new Error('the task was canceled');
  const hold = Promise.withResolvers<ModelReply>();
  await using server = await startModelServer({
    replies: () => {
      cancel.abort(reason);
      return hold.promise;
    },
  });
  await expect(invokeLlm(llmWith({ baseUrl: server.url }), request, cancel.signal)).rejects.toBe(reason);
  expect(await server.requests[0]?.closed).toBe(false);
  hold.resolve({});
});

test('a signal that is aborted already sends nothing', async () => {
  await using server = await startModelServer({ replies: [] });
  const cancel = createAbort();
  cancel.abort(new Error('never mind'));
  await expect(invokeLlm(llmWith({ baseUrl: server.url }), request, cancel.signal)).rejects.toThrow(
    'never mind',
  );
  expect(server.requests).toEqual([]);
});

test('a reader that leaves early closes the connection', async () => {
  const hold = Promise.withResolvers<void>();
  await using server = await startModelServer({ replies: [{ text: 'hello', holdFinish: hold.promise }] });
  for await (const event of llmWith({ baseUrl: server.url }).stream(request, never)) {
    expect(event.type).toBe('text');
    break;
  }
  expect(await server.requests[0]?.closed).toBe(false);
  hold.resolve();
});
