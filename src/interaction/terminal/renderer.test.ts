import { expect, it } from 'vitest';
import type { Happening } from '../client/index.ts';
import { createJsonRenderer, createRenderer } from './renderer.ts';

function rendered(happenings: readonly Happening[]) {
  let out = '';
  let err = '';
  const renderer = createRenderer({
    out: { write: (text) => (out += text) },
    err: { write: (text) => (err += text) },
  });
  for (const happening of happenings) renderer.show(happening);
  return { out, err };
}

it('writes the text of the agent to one place and everything else to the other', () => {
  const { out, err } = rendered([
    { kind: 'task', taskId: 't-1', contextId: 'c-1', state: 'SUBMITTED' },
    { kind: 'state', state: 'WORKING', subState: null },
    { kind: 'text', text: 'Hel', start: true },
    { kind: 'text', text: 'lo', start: false },
    { kind: 'text_end', text: 'Hello' },
    { kind: 'tool', phase: 'started', name: 'local/a.b' },
    { kind: 'question', question: { id: 'q', participantIds: ['ada'], text: 'Which?', options: ['x', 'y'] } },
    { kind: 'other', name: 'a2ui' },
    { kind: 'state', state: 'INPUT_REQUIRED', subState: 'awaiting-answer' },
  ]);
  expect(out).toBe('Hello\n');
  expect(err.split('\n')).toEqual([
    'task t-1',
    '- WORKING',
    '> local/a.b',
    '? to ada: Which?',
    '  options: x, y',
    '- a2ui (cannot be shown here)',
    '- INPUT_REQUIRED (awaiting-answer)',
    '',
  ]);
});

it('shows of a plan what changed', () => {
  const step = { dependsOn: [], output: null } as const;
  const { err } = rendered([
    {
      kind: 'plan',
      steps: [
        { ...step, id: 'a', name: 'Look', state: 'done', output: 'found' },
        { ...step, id: 'b', name: 'Act', state: 'pending', dependsOn: ['a'] },
      ],
      changed: ['a', 'b'],
    },
    { kind: 'plan', steps: [{ ...step, id: 'b', name: 'Act', state: 'failed' }], changed: ['b'] },
  ]);
  expect(err).toBe('  [x] Look: found\n  [ ] Act  (after a)\n  [!] Act\n');
});

it('starts a new line for a text that begins again', () => {
  const { out } = rendered([
    { kind: 'text', text: 'Hel', start: true },
    { kind: 'text', text: 'Hello', start: true },
    { kind: 'text_end', text: 'Hello' },
  ]);
  expect(out).toBe('Hel\nHello\n');
});

it('obeys no escape sequence of a name, a plan, a question or a text', () => {
  const evil = '\u001b]0;x\u0007\r';
  const step = { id: evil, name: evil, dependsOn: [evil], state: 'pending', output: evil } as const;
  const { out, err } = rendered([
    { kind: 'task', taskId: evil, contextId: evil, state: 'WORKING' },
    { kind: 'state', state: 'INPUT_REQUIRED', subState: evil },
    { kind: 'text', text: evil, start: true },
    { kind: 'plan', steps: [step], changed: [evil] },
    { kind: 'tool', phase: 'started', name: evil },
    { kind: 'question', question: { id: evil, participantIds: [evil], text: evil, options: [evil] } },
    { kind: 'notice', text: evil },
    { kind: 'refused', reason: evil },
    { kind: 'other', name: evil },
    { kind: 'reconnecting', reason: evil },
  ]);
  expect((out + err).replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
});

it('writes JSON, one object a line', () => {
  let out = '';
  createJsonRenderer({ write: (text) => (out += text) }).show({ kind: 'notice', text: 'a\n\u009b' });
  expect(out).toBe('{"kind":"notice","text":"a\\n\\u009b"}\n');
});
