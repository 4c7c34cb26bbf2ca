import { type Part, Role, type StreamResponse, TaskState } from '@a2a-js/sdk';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MEDIA_TYPE, METADATA } from '../../core/extensions/index.ts';
import type { Happening } from './happening.ts';
import { TaskReader } from './reader.ts';

const {
  TASK_STATE_WORKING: WORKING,
  TASK_STATE_INPUT_REQUIRED: WAITING,
  TASK_STATE_COMPLETED: COMPLETED,
} = TaskState;
let clock = 0;

interface Update {
  readonly state?: TaskState;
  readonly text?: string;
  readonly id?: string;
  readonly questions?: readonly string[];
  readonly metadata?: Record<string, unknown>;
}

const plain = { metadata: undefined, filename: '', mediaType: '' };

function status({ state = WORKING, text, id = 't:status:1', questions = [] }: Update) {
  const parts: Part[] = text === undefined ? [] : [{ ...plain, content: { $case: 'text', value: text } }];
  for (const question of questions) {
    const details = { question_id: question, participant_id: 'ada', options: ['x'] };
    const value = {
      channel_id: 't',
      sender: 'bot',
      kind: 'help_request',
      text: question,
      parts: [{ kind: 'data', media_type: MEDIA_TYPE.question, data: details }],
    };
    parts.push({ ...plain, content: { $case: 'data', value }, mediaType: MEDIA_TYPE.channel });
  }
  const message =
    parts.length === 0
      ? undefined
      : {
          messageId: id,
          taskId: 't',
          contextId: 'c',
          role: Role.ROLE_AGENT,
          parts,
          metadata: undefined,
          extensions: [],
          referenceTaskIds: [],
        };
  clock += 1;
  return { state, message, timestamp: new Date(clock).toISOString() };
}

function update(what: Update): StreamResponse {
  const value = { taskId: 't', contextId: 'c', status: status(what), metadata: what.metadata };
  return { payload: { $case: 'statusUpdate', value } };
}

function task(what: Update = { state: TaskState.TASK_STATE_SUBMITTED }) {
  return {
    id: 't',
    contextId: 'c',
    status: status(what),
    history: [],
    artifacts: [],
    metadata: what.metadata,
  };
}

function artifact(text: string, chunk: { readonly append: boolean; readonly last: boolean }): StreamResponse {
  const { append, last: lastChunk } = chunk;
  const parts: Part[] = [{ ...plain, content: { $case: 'text', value: text } }];
  const it = {
    artifactId: 'response:1',
    name: '',
    description: '',
    parts,
    metadata: undefined,
    extensions: [],
  };
  const value = { taskId: 't', contextId: 'c', artifact: it, append, lastChunk, metadata: undefined };
  return { payload: { $case: 'artifactUpdate', value } };
}

function opened(): TaskReader {
  const reader = new TaskReader();
  reader.snapshot(task());
  return reader;
}

/** What a reader of the text alone has seen. */
function textOf(happenings: readonly Happening[]): string {
  return happenings
    .map((each) => (each.kind === 'text' ? each.text : each.kind === 'text_end' ? '\n' : ''))
    .join('');
}

const whole = { append: false, last: true };

describe('a text', () => {
  it('is told once, however it is cut and whatever carries it in the end', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 }), { maxLength: 6 }), fc.boolean(), (pieces, kept) => {
        const text = `${pieces.join('')}.`;
        const reader = opened();
        const told = [
          update({ state: WORKING }),
          ...pieces.map((piece, at) => artifact(piece, { append: at > 0, last: false })),
          ...(kept ? [artifact(text, whole)] : []),
          update({ state: COMPLETED, text }),
        ].flatMap((response) => reader.read(response));
        expect(textOf(told)).toBe(`${text}\n`);
        expect(reader.ending.state).toBe('COMPLETED');
      }),
    );
  });

  it('is told twice when it was said twice', () => {
    const reader = opened();
    const told = [
      artifact('ok', { append: false, last: false }),
      update({ text: 'ok', id: 't:note:1' }),
      artifact('ok', { append: false, last: false }),
      artifact('ok', whole),
      update({ state: COMPLETED, text: 'ok', id: 't:status:9' }),
    ].flatMap((response) => reader.read(response));
    expect(textOf(told)).toBe('ok\nok\n');
  });

  it('whose beginning was missed is told whole at its end', () => {
    const reader = opened();
    const told = [artifact('lo', { append: true, last: false }), artifact('Hello', whole)].flatMap(
      (response) => reader.read(response),
    );
    expect(textOf(told)).toBe('Hello\n');
  });

  it('of a failure is a notice', () => {
    const told = opened().read(update({ state: TaskState.TASK_STATE_FAILED, text: 'no luck' }));
    expect(told).toEqual([
      { kind: 'notice', text: 'no luck' },
      { kind: 'state', state: 'FAILED', subState: null },
    ]);
  });
});

describe('a question', () => {
  it('is told once, and is open while the status message carries it', () => {
    const reader = opened();
    reader.read(update({ state: WORKING }));
    const told = [
      update({ text: 'a', id: 'a', questions: ['a'] }),
      update({ text: 'b', id: 'b', questions: ['b'] }),
      update({
        state: WAITING,
        text: 'a\nOptions: x\n\nb\nOptions: x',
        id: 't:status:5',
        questions: ['a', 'b'],
      }),
    ].flatMap((response) => reader.read(response));
    expect(told.map(({ kind }) => kind)).toEqual(['question', 'question', 'state']);
    expect(reader.ending.questions.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(reader.settled).toBe(true);
  });
});

describe('a plan', () => {
  const data = (...steps: { id: string; state: string }[]) => ({ [METADATA.task]: { plan: { steps } } });

  it('is told when it changes, with what changed', () => {
    const reader = opened();
    const a = { id: 'a', state: 'done' };
    reader.read(update({ metadata: data({ id: 'a', state: 'pending' }, { id: 'b', state: 'pending' }) }));
    const told = reader.read(update({ metadata: data(a, { id: 'b', state: 'pending' }) }));
    const same = reader.read(update({ metadata: data(a, { id: 'b', state: 'pending' }) }));
    expect(told).toMatchObject([{ kind: 'plan', changed: ['a'] }]);
    expect(same).toEqual([]);
  });

  it('that changes while the task waits settles nothing', () => {
    const reader = new TaskReader();
    reader.snapshot(task({ state: WAITING }));
    reader.read(update({ state: WAITING, metadata: data({ id: 'a', state: 'done' }) }));
    expect(reader.settled).toBe(false);
  });
});

describe('settled', () => {
  it('is not what the first snapshot says, and is what a later one says', () => {
    const reader = new TaskReader();
    const before = task({ state: WAITING, text: 'old reply' });
    expect(reader.snapshot(before).map(({ kind }) => kind)).toEqual(['task']);
    reader.snapshot(before);
    expect(reader.settled).toBe(false);
    const told = reader.snapshot(task({ state: WAITING, text: 'new reply', id: 't:status:7' }));
    expect(reader.settled).toBe(true);
    expect(textOf(told)).toBe('new reply\n');
  });

  it('is also a message that was not accepted', () => {
    const reader = new TaskReader();
    reader.snapshot(task({ state: WAITING }));
    const told = reader.read(update({ state: WAITING, text: 'not yours', id: 't:refusal:1' }));
    expect(told).toEqual([{ kind: 'refused', reason: 'not yours' }]);
    expect([reader.settled, reader.ending.refused]).toEqual([true, true]);
  });
});
