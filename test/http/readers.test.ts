import { expect, test } from 'vitest';
import type { Journal } from '../../src/core/persistence/index.ts';
import { followWith, readTo, startBareServer } from './bare-server.ts';
import { BINDINGS, openStream, type RawStream, rpc, seen } from './raw.ts';

const alice = { participant: 'alice' };

/** Writes notes of 100 kB each. */
async function write(journal: Journal, notes: number): Promise<void> {
  const text = 'x'.repeat(100_000);
  for (let at = 0; at < notes; at += 1) {
    await journal.write('t', { entries: [{ key: `note:${at}`, exchange: 1, body: { kind: 'note', text } }] });
  }
}

async function complete(journal: Journal): Promise<void> {
  await journal.write('t', {
    entries: [
      {
        key: 'end',
        exchange: 1,
        body: { kind: 'state', state: 'COMPLETED', subState: null, text: null, questions: [] },
      },
    ],
    state: { state: 'COMPLETED', subState: null, entry: 'end' },
  });
}

async function idsOf(stream: RawStream): Promise<(number | undefined)[]> {
  return (await stream.rest()).map((event) => seen(event).id);
}

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

test('a reader that does not read is dropped, costs a bounded number of bytes, and resumes where it was', async () => {
  const { url, port, journal, bus, sockets, errors } = await startBareServer({ streams: { stallMs: 2000 } });
  const stalled = await followWith(port);
  await readTo(stalled, 'id: 1');
  const other = await openStream(url, 'SubscribeToTask', { id: 't' }, alice);
  const all = idsOf(other);
  await bus.until(2);

  const dropped = new Promise((resolve) => sockets[0]?.once('close', resolve));
  await write(journal, 200);
  await dropped;
  await bus.until(1);
  // 20 MB were written to the log; what was sent fits into the buffers between two sockets.
  expect(sockets[0]?.bytesWritten).toBeLessThan(12_000_000);
  expect(errors).toEqual([]);

  const headers = { 'last-event-id': '1' };
  const resumed = await openStream(url, 'SubscribeToTask', { id: 't' }, { ...alice, headers });
  await complete(journal);
  expect(await idsOf(resumed)).toEqual(upTo(202, 2));
  expect(await all).toEqual(upTo(202));
});

test('a reader that comes back in time misses nothing', async () => {
  const { port, journal } = await startBareServer();
  const slow = await followWith(port);
  await readTo(slow, 'id: 1');
  await write(journal, 100);
  await complete(journal);
  const text = await readTo(slow, '0\r\n\r\n');
  expect([...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))).toEqual(upTo(102, 2));
});

test.each([
  ['that waits', 0],
  ['that is read by nobody', 200],
])('a stream %s ends within a second after its client is gone, and others go on', async (_what, notes) => {
  const { url, port, journal, bus } = await startBareServer();
  const leaving = await followWith(port);
  await readTo(leaving, 'id: 1');
  const staying = await openStream(url, 'SubscribeToTask', { id: 't' }, alice);
  const all = idsOf(staying);
  await bus.until(2);
  await write(journal, notes);

  const left = performance.now();
  leaving.destroy();
  await bus.until(1);
  expect(performance.now() - left).toBeLessThan(1000);
  expect((await rpc(url, 'GetTask', { id: 't', historyLength: 0 }, alice)).result).toMatchObject({
    status: { state: 'TASK_STATE_SUBMITTED' },
  });
  await complete(journal);
  expect(await all).toEqual(upTo(notes + 2));
});

test('a silent stream says that it lives', async () => {
  const { port } = await startBareServer({ streams: { heartbeatMs: 20 } });
  const socket = await followWith(port);
  const text = await readTo(socket, ': alive\n\n');
  expect(text.indexOf('id: 1')).toBeLessThan(text.indexOf(': alive'));
});

test.each(BINDINGS)(
  'a caller has 64 streams; over %s the next is refused until one has ended',
  async (binding) => {
    const { url, bus } = await startBareServer();
    const open = (participant: string) =>
      openStream(url, 'SubscribeToTask', { id: 't' }, { participant, binding });
    const streams = await Promise.all(Array.from({ length: 64 }, () => open('alice')));
    const refused = await open('alice');
    expect([refused.response.status, refused.response.headers.get('retry-after')]).toEqual([429, '1']);
    expect((await refused.rest())[0]?.error).toMatchObject({
      code: -32000,
      message: expect.stringContaining('64 open streams'),
      data: [{ reason: 'TOO_MANY_STREAMS' }],
    });
    // Somebody else has a count of their own, and refusals take no place.
    for (let round = 0; round < 70; round += 1) {
      const stranger = await open('mallory');
      expect((await stranger.rest())[0]?.error?.code).toBe(-32001);
    }
    expect((await rpc(url, 'GetTask', { id: 't' }, { ...alice, binding })).error).toBeUndefined();

    streams.pop()?.drop();
    await bus.until(63);
    const next = await open('alice');
    expect(next.response.headers.get('content-type')).toBe('text/event-stream');
    for (const stream of [...streams, next]) stream.drop();
  },
);

test('streams end when the server stops', async () => {
  const { port, stop, bus } = await startBareServer();
  const socket = await followWith(port);
  await readTo(socket, 'id: 1');
  stop.abort();
  await readTo(socket, '0\r\n\r\n');
  await bus.until(0);
});

test('a subscriber that is up to date gets its stream at once, and waits on it', async () => {
  const server = await startBareServer();
  const subscribe = { jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id: 't' } };
  const response = await fetch(server.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'a2a-version': '1.0',
      'x-participant-id': 'alice',
      'last-event-id': '1',
    },
    body: JSON.stringify(subscribe),
    signal: AbortSignal.timeout(5_000),
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  await response.body?.cancel();
});
