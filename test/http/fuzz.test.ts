import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { startBareServer } from './bare-server.ts';
import { BINDINGS, channelPart, eventPart, type Json, say } from './raw.ts';

/** What was never a fault of the client, or says more than it should. */
const INSIDES = /"reason":"INTERNAL"|\n\s+at |node:internal|node_modules|\.ts:\d/;

const HANG_MS = 5_000;

const METHODS = [
  'SendMessage',
  'SendStreamingMessage',
  'GetTask',
  'CancelTask',
  'SubscribeToTask',
  'ListTasks',
];

/** Requests that are right, to be spoilt. */
const GOOD: readonly Json[] = [
  say('Hi', { taskId: 't', contextId: 'c', metadata: { participant_kind: 'human' } }, { historyLength: 1 }),
  say('', { parts: [eventPart({ kind: 'task', payload: { name: 'n', goal: 'g', participants: [] } })] }),
  say('', { parts: [channelPart({ channel_id: 't', sender: 'alice', kind: 'message', text: 'x' })] }),
  { id: 't', historyLength: 3 },
  {
    contextId: 'c',
    pageSize: 10,
    status: 'TASK_STATE_WORKING',
    statusTimestampAfter: '2026-01-01T00:00:00Z',
  },
];

const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(-0, 1e308, 2 ** 53, '', '\u0000', '\ud800', '__proto__', 'x'.repeat(300), [], {}, null),
  fc.constantFrom<Json>({ toString: 1 }, { $case: 'x' }, { seconds: 1e99 }, { length: -1 }),
);

/** A right request with one value put anywhere in it, or taken out. */
const spoilt = fc
  .record({ good: fc.constantFrom(...GOOD), at: fc.nat(), value: fc.option(anything, { nil: undefined }) })
  .map(({ good, at, value }) => {
    const copy = structuredClone(good) as Record<string, unknown>;
    const places = placesOf(copy);
    const [holder, key] = places[at % places.length] ?? [copy, 'id'];
    holder[key] = value;
    return copy;
  });

function placesOf(value: unknown): (readonly [Record<string, unknown>, string])[] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Record<string, unknown>;
  return Object.keys(holder).flatMap((key) => [[holder, key] as const, ...placesOf(holder[key])]);
}

const params = fc.oneof({ weight: 4, arbitrary: spoilt }, { weight: 1, arbitrary: anything });

const headers = fc.record(
  {
    'last-event-id': fc.constantFrom('0', '1', '-1', 'x', '1e999', ' ', '99999999999999999999'),
    'a2a-extensions': fc.constantFrom('', ',,', 'urn:x', '"', 'a, b;c'),
    'content-type': fc.constantFrom('application/json', 'application/json; charset=x', 'text/plain', ''),
  },
  { requiredKeys: [] },
);

/** Sends it and looks at what comes back; a stream that begins is well, and is left. */
async function isWell(
  address: string | URL,
  init: { readonly method: string; readonly body?: string; readonly headers?: Record<string, string> },
): Promise<void> {
  const gone = new AbortController();
  const response = await fetch(address, {
    ...init,
    signal: AbortSignal.any([gone.signal, AbortSignal.timeout(HANG_MS)]),
    headers: { 'a2a-version': '1.0', 'x-participant-id': 'alice', ...init.headers },
  });
  expect([200, 400, 404, 405, 413, 503]).toContain(response.status);
  if (response.headers.get('content-type') !== 'text/event-stream') {
    const text = await response.text();
    expect(text).not.toMatch(INSIDES);
    if (text !== '') expect(JSON.parse(text)).toBeTypeOf('object');
  }
  gone.abort();
}

const json = { 'content-type': 'application/json' };

describe.each(BINDINGS)('over %s', (binding) => {
  test('whatever is asked, the answer is one', { timeout: 60_000 }, async () => {
    const { url, errors } = await startBareServer();
    const bodyOf = (method: string, asked: unknown) =>
      JSON.stringify(binding === 'JSONRPC' ? { jsonrpc: '2.0', id: 1, method, params: asked } : asked);
    const pathOf = (method: string) =>
      binding === 'JSONRPC' ? url : `${url}message:${method === 'SendMessage' ? 'send' : 'stream'}`;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...METHODS), params, headers, (method, asked, more) =>
        isWell(pathOf(method), {
          method: 'POST',
          body: bodyOf(method, asked),
          headers: { ...json, ...more },
        }),
      ),
      { numRuns: 400 },
    );
    expect(errors).toEqual([]);
  });

  test('whatever bytes come, the answer is one', { timeout: 60_000 }, async () => {
    const { url, errors } = await startBareServer();
    const address = binding === 'JSONRPC' ? url : `${url}message:send`;
    const bytes = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string().map((text) => `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":${text}}`),
      fc.constantFrom('{"a":1,"a":2}', '{"__proto__":{}}', '1e999', '{"":0}', '[[[[', '\u0000', '"\\ud800"'),
    );
    await fc.assert(
      fc.asyncProperty(bytes, (body) => isWell(address, { method: 'POST', body, headers: json })),
      { numRuns: 200 },
    );
    expect(errors).toEqual([]);
  });
});

test('whatever path and query are asked for, the answer is one', { timeout: 60_000 }, async () => {
  const { url, errors } = await startBareServer();
  const piece = fc.oneof(
    fc.constantFrom(
      'tasks',
      't',
      'message:send',
      ':subscribe',
      ':cancel',
      't:cancel',
      'pushNotificationConfigs',
    ),
    fc.constantFrom('..', '%2e%2e', '%', '%00', '%ff', '__proto__', 'a:b:c', 'extendedAgentCard', '?', '#'),
    fc.string(),
  );
  const key = fc.constantFrom('pageSize', 'historyLength', 'status', 'pageToken', 'includeArtifacts', 'id');
  const query = fc.array(
    fc.tuple(key, fc.oneof(fc.string(), fc.constantFrom('1', '-1', '1e9', 'true', '0x1'))),
  );
  const method = fc.constantFrom('GET', 'GET', 'POST', 'DELETE', 'PUT', 'OPTIONS');
  await fc.assert(
    fc.asyncProperty(method, fc.array(piece, { maxLength: 4 }), query, async (verb, pieces, asked) => {
      const address = URL.parse(`${url}${pieces.join('/')}?${new URLSearchParams(asked)}`);
      if (address !== null) await isWell(address, { method: verb });
    }),
    { numRuns: 400 },
  );
  expect(errors).toEqual([]);
});
