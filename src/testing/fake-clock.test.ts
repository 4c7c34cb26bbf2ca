import { expect, test } from 'vitest';
import { FakeClock } from './fake-clock.ts';

test('a fake clock moves only when it is told to', () => {
  const clock = new FakeClock(1000);
  clock.advance(250);
  expect(clock.now()).toBe(1250);
  expect(() => clock.advance(-1)).toThrow(RangeError);
});
