import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLogger } from '../../core/base/index.ts';
import { type SseEvent, sseBody } from './sse.ts';

const SIZE = 10_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A body over a source of large events that notes what becomes of it; after `count` events it is silent. */
function body(count = Number.POSITIVE_INFINITY) {
  const noted = { asked: 0, canceled: 0, returned: false };
  const gone = Promise.withResolvers<void>();
  const events = (async function* (): AsyncGenerator<SseEvent, void, undefined> {
    try {
      for (noted.asked = 1; noted.asked <= count; noted.asked += 1)
        yield { data: 'x'.repeat(SIZE), id: noted.asked };
      await gone.promise;
    } finally {
      noted.returned = true;
    }
  })();
  const cancel = () => {
    noted.canceled += 1;
    gone.resolve();
  };
  const reader = sseBody(events, cancel, { logger: silentLogger }).getReader();
  return { noted, reader, read: async () => new TextDecoder().decode((await reader.read()).value) };
}

test('an event is written with its id and its type, where it has them', async () => {
  const events: SseEvent[] = [
    { data: '{"a":1}', id: 7 },
    { data: '{}' },
    { data: '{"error":1}', type: 'error', id: undefined },
  ];
  const source = (async function* () {
    yield* events;
  })();
  const text = await new Response(sseBody(source, () => {}, { logger: silentLogger })).text();
  expect(text).toBe('id: 7\ndata: {"a":1}\n\ndata: {}\n\nevent: error\ndata: {"error":1}\n\n');
});

test('no more is asked for than 64 KiB and the event that is under way, until the reader takes some', async () => {
  const { noted, read } = body();
  await vi.advanceTimersByTimeAsync(1000);
  expect(noted.asked * SIZE).toBeGreaterThan(64 * 1024 - SIZE);
  expect(noted.asked * SIZE).toBeLessThan(64 * 1024 + SIZE);
  const before = noted.asked;
  await read();
  await read();
  await vi.advanceTimersByTimeAsync(1000);
  expect(noted.asked - before).toBe(2);
});

test('a reader that takes nothing for 30 seconds is dropped, and its source is told', async () => {
  const { noted, reader } = body();
  await vi.advanceTimersByTimeAsync(29_000);
  expect(noted).toMatchObject({ canceled: 0, returned: false });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(noted).toMatchObject({ canceled: 1, returned: true });
  await expect(reader.read()).rejects.toThrow('30000 ms');
});

test('a reader that takes some in time is kept', async () => {
  const { noted, read } = body();
  for (let round = 0; round < 10; round += 1) {
    await vi.advanceTimersByTimeAsync(25_000);
    await read();
  }
  expect(noted.canceled).toBe(0);
});

test('a reader that waits hears every 15 seconds that the stream lives, and is kept for ever', async () => {
  const { noted, read } = body(1);
  expect(await read()).toContain('id: 1');
  for (let round = 0; round < 10; round += 1) {
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await read()).toBe(': alive\n\n');
  }
  expect(noted.canceled).toBe(0);
});

test('a reader that goes away ends its source, whether that is waiting or waited for', async () => {
  for (const count of [1, Number.POSITIVE_INFINITY]) {
    const { noted, read, reader } = body(count);
    await read();
    await reader.cancel();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(noted).toMatchObject({ canceled: 1, returned: true });
  }
  expect(vi.getTimerCount()).toBe(0);
});
