import { expect, test } from 'vitest';
import { choiceOf } from './index.ts';

test.each([
  ['approve', 'approve'],
  [' deny\n', 'deny'],
])('PC-12: %j is a decision', (text, choice) => {
  expect(choiceOf(text)).toBe(choice);
});

test.each(['', 'approve it', 'sure, but only 10', 'Approve', 'approve.', 'approve deny', 'yes', '"deny"'])(
  'PC-12: %j is an ordinary message',
  (text) => {
    expect(choiceOf(text)).toBeUndefined();
  },
);
