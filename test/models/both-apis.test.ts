import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/core/tools/index.ts';
import {
  contextExceeded,
  type ModelReply,
  type ModelServerOptions,
  type ServerHabits,
  startModelServer,
} from '../../src/testing/index.ts';
import { brief, openStream, rawState, rpc, say, seen, snapshotOf, statusParts, taskOf } from '../http/raw.ts';
import { startTestHarness } from '../support/harness.ts';
import { APIS, type Api, llmWith } from './apis.ts';

const alice = { participant: 'alice' };
const plan = { name: 'create_plan', arguments: { steps: [{ name: 'Look', description: 'look outside' }] } };
const weatherIn = (city: string) => ({ name: 'app_weather', arguments: { city } });

/** Replies that are worth another try. */
const PASSING: Readonly<Record<string, ModelReply>> = {
  'a 429': { fault: 'status', status: 429, headers: { 'retry-after': '0' } },
  'a 500': { fault: 'status', status: 500, body: 'oops' },
  'a reset before the answer': { fault: 'reset' },
  'a reset within the answer': { fault: 'reset_midway' },
  'an error within the answer': { fault: 'error_midway', error: { code: 'server_error', message: 'oops' } },
  'an empty answer': {},
};

/** A harness whose model is a server with these replies, and a tool that remembers its calls. */
async function setUp(api: Api, replies: ModelServerOptions['replies'], habits: ServerHabits = {}) {
  const server = await startModelServer({ replies, habits });
  onTestFinished(() => server.close());
  const cities: string[] = [];
  const weather = defineTool({
    name: 'weather',
    description: 'The weather in a city.',
    input: z.object({ city: z.string() }),
    annotations: { readOnlyHint: true },
    run: ({ city }) => {
      cities.push(city);
      return `It rains in ${city}.`;
    },
  });
  const { url } = await startTestHarness(llmWith(api, { baseUrl: server.url }), {
    tools: [weather],
    settings: {
      agent: { conversation: 'single' },
      retries: { default: { initial_interval: 0.01, maximum_interval: 0.01, maximum_attempts: 3 } },
    },
  });
  const send = async (text = 'How is it outside?') => taskOf(await rpc(url, 'SendMessage', say(text), alice));
  return { server, url, cities, send };
}

/** What a person reads at the end. */
function lastWords(task: Parameters<typeof statusParts>[0]): string {
  return statusParts(task)
    .map((part) => String(part.text))
    .join('\n');
}

describe.each(APIS)('a task, over $api', { timeout: 60_000 }, (api) => {
  test('is planned, worked on with a tool, and answered', async () => {
    const { server, url, cities } = await setUp(api, [
      { text: 'I make a plan.', calls: [plan] },
      { calls: [weatherIn('Oslo')] },
      { text: 'Take an umbrella.' },
    ]);
    const stream = await openStream(url, 'SendStreamingMessage', say('How is it in Oslo?'), alice);
    const events = await stream.rest();

    expect(brief(events.at(-1) as never)).toBe('status:COMPLETED');
    expect(events.map((event) => seen(event).text)).toContain('I make a plan.');
    expect(JSON.stringify(events)).toContain('umbrella');
    expect(cities).toEqual(['Oslo']);
    expect(server.requests.map(({ path }) => path)).toEqual(Array(3).fill(`/v1${api.path}`));
    const [first, , last] = server.requests.map(({ body }) => body);
    expect(JSON.stringify(last)).toContain('It rains in Oslo.');
    if (api.api === 'responses') {
      expect(first).toMatchObject({ store: false, prompt_cache_key: snapshotOf(events).id });
      expect(last).toMatchObject({ instructions: first?.instructions, tools: first?.tools });
    } else expect(first).not.toHaveProperty('store');
  });

  test('survives what may pass, each time with the second answer', async () => {
    const asked = new Map<string, number>();
    const { send } = await setUp(api, (body) => {
      const name = Object.keys(PASSING).find((one) => JSON.stringify(body).includes(`after ${one}`)) ?? '';
      asked.set(name, (asked.get(name) ?? 0) + 1);
      return (asked.get(name) === 1 && PASSING[name]) || { text: `It is dry after ${name}.` };
    });
    const ends = Object.keys(PASSING).map(async (name) => {
      const task = await send(`How is it outside after ${name}?`);
      return [name, rawState(task), lastWords(task), asked.get(name)];
    });
    expect(await Promise.all(ends)).toEqual(
      Object.keys(PASSING).map((name) => [name, 'COMPLETED', `It is dry after ${name}.`, 2]),
    );
  });

  test.each<[string, ModelReply, RegExp]>([
    [
      'a refused key',
      { fault: 'status', status: 401, body: { error: { message: 'bad key' } } },
      /answered 401: bad key; check the API key/,
    ],
    [
      'half a stream',
      { fault: 'truncate', text: 'a longer text' },
      /ended the answer before it was finished/,
    ],
    [
      'a stream without its finish',
      { fault: 'no_finish', calls: [weatherIn('Oslo')] },
      /ended the answer before it was finished/,
    ],
    ['a body that is no JSON', { fault: 'invalid_json' }, /text that is not JSON/],
    ['a request that is too long', contextExceeded(9000, 8192), /exceeds the available context size/],
    [
      'a length stop within a call',
      { calls: [{ name: 'app_weather', arguments: '{"ci' }], finishReason: 'length' },
      /cut off before its first word; raise max_output_tokens/,
    ],
    [
      'a refusal',
      { refusal: 'I will not look outside.', calls: [weatherIn('Oslo')] },
      /^I will not look outside\.$/,
    ],
  ])('fails by %s, and says so', async (_, reply, reason) => {
    const { server, send, cities } = await setUp(api, [reply]);
    const task = await send();
    expect(rawState(task)).toBe('FAILED');
    expect(lastWords(task)).toMatch(reason);
    expect(cities).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  test('fails when the endpoint stays down, with what it said last', async () => {
    const down: ModelReply = { fault: 'status', status: 503, body: { error: { message: 'in repair' } } };
    const { server, send } = await setUp(api, [down, down, down, { text: 'too late' }]);
    const task = await send();
    expect(rawState(task)).toBe('FAILED');
    expect(lastWords(task)).toMatch(/answered 503: in repair; .* \(provider\.retryable\)$/);
    expect(server.requests).toHaveLength(3);
  });

  test('goes on after arguments that are not JSON, which the model is told and never shown again', async () => {
    const { server, send, cities } = await setUp(
      api,
      [{ calls: [{ name: 'app_weather', arguments: '{"city": "Os' }] }, { text: 'I give up.' }],
      { refuseBrokenHistory: true },
    );
    expect(rawState(await send())).toBe('COMPLETED');
    expect(cities).toEqual([]);
    expect(JSON.stringify(server.requests[1]?.body)).toContain('the arguments are not JSON');
  });

  test('runs calls that come without ids, and each result finds its call', async () => {
    const calls = [weatherIn('Oslo'), weatherIn('Rome')];
    const { server, send, cities } = await setUp(api, [{ calls }, { text: 'It rains.' }], { ids: 'none' });
    expect(rawState(await send())).toBe('COMPLETED');
    expect(cities.toSorted()).toEqual(['Oslo', 'Rome']);
    const sent = JSON.stringify(server.requests[1]?.body);
    const ids = [...sent.matchAll(/"(?:tool_)?call_id":"([^"]+)"/g)].map((match) => match[1]);
    expect(new Set(ids).size).toBe(2);
  });
});
