import { describe, expect, test, vi } from 'vitest';
import { ConfigError, ProviderError } from '../../src/core/base/index.ts';
import { invokeLlm } from '../../src/core/models/index.ts';
import { Secret } from '../../src/core/security/index.ts';
import { startModelServer } from '../../src/testing/index.ts';
import { APIS, errorOf, llmWith, never, requestOf } from './apis.ts';

describe.each(APIS)('the endpoint, over $api', (api) => {
  test('MD-6 the description names endpoint, api and model', () => {
    expect(llmWith(api, { baseUrl: 'http://127.0.0.1:8080/v1' }).description).toBe(
      `model endpoint http://127.0.0.1:8080 api=${api.api} model=test-model`,
    );
    expect(llmWith(api, {}).description).toBe(
      `model endpoint https://api.openai.com api=${api.api} model=test-model`,
    );
  });

  test('each API has its path, below the base URL', async () => {
    await using server = await startModelServer({ replies: [{ text: 'ok' }] });
    await invokeLlm(llmWith(api, { baseUrl: server.url }), requestOf(), never);
    expect(server.requests.map((request) => request.path)).toEqual([`/v1${api.path}`]);
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
      await invokeLlm(llmWith(api, { baseUrl: server.url }), requestOf(), never);
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
    const llm = llmWith(api, {
      apiKey: new Secret('sk-test'),
      fetch: (input) => {
        urls.push(input instanceof Request ? input.url : input.toString());
        return Promise.resolve(new Response('{}', { status: 400 }));
      },
    });
    vi.unstubAllEnvs();
    await expect(invokeLlm(llm, requestOf(), never)).rejects.toThrow(ProviderError);
    expect(urls).toEqual([`https://api.openai.com/v1${api.path}`]);
  });

  test('MD-5 a key is sent to a loopback endpoint', async () => {
    await using server = await startModelServer({ replies: [{ text: 'ok' }] });
    const llm = llmWith(api, { baseUrl: server.url, apiKey: new Secret('sk-test') });
    await invokeLlm(llm, requestOf(), never);
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
    const create = () => llmWith(api, { baseUrl, ...(key !== undefined && { apiKey: new Secret(key) }) });
    expect(create).toThrow(ConfigError);
    expect(create).not.toThrow(/sk-test|user:pass/);
  });

  test.each([
    'http://localhost:1234/v1',
    'http://127.0.0.9/v1',
    'http://[::1]:8080/v1',
    'https://models.example',
  ])('MD-5 a key may go to %s', (baseUrl) => {
    expect(llmWith(api, { baseUrl, apiKey: new Secret('sk-test') }).model).toBe('test-model');
  });

  test('MD-5 a redirect is an error and is not followed', async () => {
    await using target = await startModelServer({ replies: [{ text: 'stolen' }] });
    const error = await errorOf(api, {
      fault: 'status',
      status: 307,
      headers: { location: `${target.url}${api.path}` },
    });
    expect(error).toMatchObject({ code: 'provider.error', status: 307, retryable: false });
    expect(String(error)).toContain('redirects are not followed');
    expect(target.requests).toEqual([]);
  });

  test('a request may name another model of the endpoint', async () => {
    await using server = await startModelServer({ replies: [{ text: 'ok' }] });
    const llm = llmWith(api, { baseUrl: server.url });
    const response = await invokeLlm(llm, { ...requestOf(), model: 'big' }, never);
    expect(response.model).toBe('big');
    expect(server.requests[0]?.body).toMatchObject({ model: 'big' });
  });
});
