import { expect, test } from 'vitest';
import { retryAfter } from './errors.ts';

test('MD-4 Retry-After is read as seconds, as a date and in milliseconds', () => {
  const now = Date.UTC(2026, 0, 1);
  expect(retryAfter(new Headers({ 'retry-after': '1.5' }), now)).toBe(1500);
  expect(retryAfter(new Headers({ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }), now)).toBe(30_000);
  expect(retryAfter(new Headers({ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }), now)).toBe(0);
  expect(retryAfter(new Headers({ 'retry-after-ms': '250', 'retry-after': '9' }), now)).toBe(250);
  expect(retryAfter(new Headers({ 'retry-after': 'soon' }), now)).toBeUndefined();
  expect(retryAfter(undefined, now)).toBeUndefined();
});
