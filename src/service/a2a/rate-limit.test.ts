import { expect, test } from 'vitest';
import { FakeClock } from '../../testing/index.ts';
import { RateLimit } from './rate-limit.ts';

function limited(perMinute: number) {
  const clock = new FakeClock();
  const limit = new RateLimit(perMinute, () => clock.now());
  return { clock, take: (peer = '192.0.2.1') => limit.take(peer) };
}

function taken(take: () => number): number {
  let count = 0;
  while (take() === 0) count += 1;
  return count;
}

test("a minute's requests may come at once; then they come in at the limit's pace", () => {
  const { clock, take } = limited(120);
  expect(taken(take)).toBe(120);
  expect(take()).toBe(1);
  clock.advance(499);
  expect(take()).toBe(1);
  clock.advance(1);
  expect([take(), take()]).toEqual([0, 1]);
  clock.advance(10 * 60_000);
  expect(taken(take)).toBe(120);
});

test('how long to wait is told in whole seconds, and is long enough', () => {
  const { clock, take } = limited(1);
  expect([take(), take()]).toEqual([0, 60]);
  clock.advance(30_500);
  expect(take()).toBe(30);
  clock.advance(30_000);
  expect(take()).toBe(0);
});

test('addresses are counted apart; one host of IPv6 and both forms of an IPv4 address are one', () => {
  const { take } = limited(1);
  expect(take('192.0.2.1')).toBe(0);
  expect(take('192.0.2.2')).toBe(0);
  expect(take('::ffff:192.0.2.1')).toBe(60);
  expect(take('2001:db8:1:2:3:4:5:6')).toBe(0);
  expect(take('2001:db8:1:2::7')).toBe(60);
  expect(take('2001:db8:1:3::7')).toBe(0);
  expect(take('fe80::1%eth0')).toBe(0);
  expect(take('fe80::2')).toBe(60);
  expect(take('::1')).toBe(0);
});

test('it remembers ten thousand addresses, and forgets who was not seen for longest', () => {
  const { take } = limited(1);
  expect(take('first')).toBe(0);
  expect(take('second')).toBe(0);
  for (let at = 0; at < 9_998; at += 1) take(`peer ${at}`);
  expect(take('first')).toBe(60);
  take('one more');
  expect(take('second')).toBe(0);
  expect(take('first')).toBe(60);
});
