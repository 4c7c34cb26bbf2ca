import { describe, expect, test } from 'vitest';
import { ProviderError, RetryableProviderError } from '../../src/core/base/index.ts';
import { invokeLlm } from '../../src/core/models/index.ts';
import { Secret } from '../../src/core/security/index.ts';
import { contextExceeded, type ModelReply, startModelServer } from '../../src/testing/index.ts';
import { APIS, collect, errorOf, llmWith, never, readCall, requestOf } from './apis.ts';

describe.each(APIS)('failures, over $api', (api) => {
  test('MD-4 429 and 5xx may pass, with the wait the endpoint asked for', async () => {
    const headers = { 'retry-after': '7' };
    const limited = await errorOf(api, { fault: 'status', status: 429, headers, body: {} });
    expect(limited).toBeInstanceOf(RetryableProviderError);
    expect(limited).toMatchObject({ status: 429, retryAfterMs: 7000, retryable: true });
    const broken = await errorOf(api, { fault: 'status', status: 503, body: 'down' });
    expect(broken).toMatchObject({ status: 503, retryAfterMs: undefined, retryable: true });
  });

  test('MD-2 a request is made once: trying again is the business of the caller', async () => {
    await using server = await startModelServer({ replies: () => ({ fault: 'status', status: 500 }) });
    await collect(llmWith(api, { baseUrl: server.url }).stream(requestOf(), never));
    expect(server.requests).toHaveLength(1);
  });

  test.each([400, 401, 404, 422])('MD-4 %i does not pass', async (status) => {
    const error = await errorOf(api, { fault: 'status', status, body: { error: { message: 'no' } } });
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ code: 'provider.error', status, retryable: false });
  });

  test.each(['reset', 'reset_midway'] as const)(
    'MD-4 a connection that breaks (%s) may pass',
    async (fault) => {
      expect(await errorOf(api, { fault })).toMatchObject({ code: 'provider.retryable', status: undefined });
    },
  );

  test('MD-4 an endpoint nobody listens on may pass, and the message says so', async () => {
    const server = await startModelServer({ replies: [] });
    await server.close();
    const answer = invokeLlm(llmWith(api, { baseUrl: server.url }), requestOf(), never);
    await expect(answer).rejects.toThrow(/cannot be reached or broke off \(.*ECONNREFUSED/);
    await expect(answer).rejects.toBeInstanceOf(RetryableProviderError);
  });

  test('MD-4 an endpoint that does not begin to answer in time may pass', async () => {
    const hold = Promise.withResolvers<ModelReply>();
    await using server = await startModelServer({ replies: () => hold.promise });
    const answer = invokeLlm(llmWith(api, { baseUrl: server.url, timeoutMs: 50 }), requestOf(), never);
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
    expect(await errorOf(api, reply)).toMatchObject({
      code: 'provider.error',
      status: 200,
      retryable: false,
    });
  });

  test.each(['truncate', 'no_finish'] as const)(
    'MD-4 a stream that ends before its finish (%s) is an error and emits no call',
    async (fault) => {
      const reply = { fault, text: 'a longer text', calls: [readCall] };
      await using server = await startModelServer({ replies: [reply] });
      const stream = llmWith(api, { baseUrl: server.url }).stream(requestOf(), never);
      const { events, error } = await collect(stream);
      expect(error).toMatchObject({ code: 'provider.error', status: 200, retryable: false });
      expect(events.filter((event) => event.type === 'done')).toEqual([]);
    },
  );

  test.each([
    [
      { code: 500, message: 'oops' },
      { status: 500, retryable: true },
    ],
    [
      { code: 'server_error', message: 'oops' },
      { status: 500, retryable: true },
    ],
    [
      { type: 'overloaded_error', message: 'oops' },
      { status: 503, retryable: true },
    ],
    [
      { code: 'rate_limit_exceeded', message: 'slowly' },
      { status: 429, retryable: true },
    ],
    [
      { type: 'invalid_request_error', message: 'no' },
      { status: 200, retryable: false },
    ],
    [{ code: 'context_length_exceeded', message: 'long' }, { code: 'provider.context_exceeded' }],
  ])('MD-4 an error inside a stream, %j, is mapped by its code or type', async (error, expected) => {
    const thrown = await errorOf(api, { fault: 'error_midway', error });
    expect(thrown).toMatchObject(expected);
    expect(String(thrown)).toContain(`broke off its answer with an error: ${error.message}; `);
  });

  test('MD-9 exceed_context_size_error is told apart, with the numbers the server gave', async () => {
    expect(await errorOf(api, contextExceeded(9000, 8192))).toMatchObject({
      code: 'provider.context_exceeded',
      status: 400,
      retryable: false,
      details: { promptTokens: 9000, contextWindow: 8192 },
    });
  });

  test('MD-9 context_length_exceeded of OpenAI is the same error', async () => {
    const error = { code: 'context_length_exceeded', message: 'too long', type: 'invalid_request_error' };
    expect(await errorOf(api, { fault: 'status', status: 400, body: { error } })).toMatchObject({
      code: 'provider.context_exceeded',
    });
  });

  test('MD-9 a 500 for a malformed request is one clear line', async () => {
    const body = { error: { code: 500, message: 'bad\n  grammar', type: 'server_error' } };
    const error = await errorOf(api, { fault: 'status', status: 500, body });
    expect(error).toBeInstanceOf(RetryableProviderError);
    const label = `http://127\\.0\\.0\\.1:\\d+ api=${api.api} model=test-model`;
    expect((error as Error).message).toMatch(
      new RegExp(`^model endpoint ${label} answered 500: bad grammar; `),
    );
  });

  const echo = `your key\nis sk-test ${'x'.repeat(5000)}`;
  test.each<[string, ModelReply]>([
    ['answered 401', { fault: 'status', status: 401, body: echo }],
    ['broke off its answer with an error', { fault: 'error_midway', error: { message: echo } }],
  ])('an error (%s) is one short line that never holds the key the server echoes', async (start, reply) => {
    const error = await errorOf(api, reply, { apiKey: new Secret('sk-test') });
    const { message, cause } = error as ProviderError;
    expect(message).toContain(`${start}: your key is [secret] xxx`);
    expect(message).not.toContain('\n');
    expect(message.length).toBeLessThan(600);
    expect(cause).toBeUndefined();
  });
});
