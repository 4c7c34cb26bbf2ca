import { beforeEach, describe, expect, test } from 'vitest';
import { asks, carrying, gated, judged, mail, startLoop, turn } from './fixtures/rig.ts';

const parked = (loop: ReturnType<typeof startLoop>, commits: number) =>
  loop.until(() => loop.state.phase === 'parked' && loop.commits.length === commits);

const spawns = turn({ calls: [gated(0, { kind: 'spawn', repeatable: false })] });

const verdict = (decision: 'approve' | 'deny', ordinal = 0) => ({
  decision,
  explicit: true,
  remember: false,
  callId: `call_${ordinal}`,
  argumentsHash: `hash_${ordinal}`,
});

describe.each([
  ['in one run', false],
  ['LP-8: carried over after every turn', true],
])('%s', (_name, carries) => {
  beforeEach(() => {
    carrying.on = carries;
  });

  test('PC-12: a call that needs approval parks the task; its siblings have run, once', async () => {
    const loop = startLoop([turn({ calls: [gated(0), judged(1)] }), turn({ decision: 'wait' })]);
    await parked(loop, 1);
    expect(loop.commits[0]).toMatchObject({ subState: 'awaiting-answer', text: { from: 'questions' } });
    expect(loop.ran).toEqual(['start 0', 'end 0']);
    loop.send(mail('m2', { sender: 'carol', verdict: verdict('approve', 1) }));
    await parked(loop, 2);
    expect(loop.ran.slice(2)).toEqual(['start 1', 'end 1']);
    expect(loop.decided).toMatchObject([{ ordinal: 1, decided: { message: 'm2' } }]);
    // In time: the model reads the result where it belongs, and not the decision.
    expect(loop.decided[0]).not.toHaveProperty('late');
    expect(loop.inputs[1]).toMatchObject({
      unread: { exchange: 1, turn: 0 },
      mail: [{ type: 'message', key: 'm2', silent: true }],
    });
  });

  test('PC-12: a message that is no decision is worked on; a decision after that comes late and is told on its own', async () => {
    const loop = startLoop([
      turn({ calls: [judged(0)] }),
      turn({ decision: 'wait' }),
      turn({ decision: 'wait' }),
    ]);
    await parked(loop, 1);
    loop.send(mail('m2'));
    await parked(loop, 2);
    expect(loop.inputs[1]).toMatchObject({ waitingCalls: ['call_0'] });
    expect(loop.commits[1]).toMatchObject({ subState: 'awaiting-answer', questions: ['task:help:3'] });
    loop.send(mail('m3', { sender: 'carol', verdict: verdict('approve') }));
    await parked(loop, 3);
    expect(loop.decided).toMatchObject([{ late: true }]);
    expect(loop.inputs[2]?.mail).toContainEqual({
      type: 'outcome',
      call: { exchange: 1, turn: 0, ordinal: 0 },
    });
  });

  test('PC-12: with two calls waiting, one decision runs one call and parks again without the model', async () => {
    const loop = startLoop([turn({ calls: [judged(0), judged(1)] }), turn({ decision: 'wait' })]);
    await parked(loop, 1);
    loop.send(mail('m2', { sender: 'carol', verdict: verdict('deny', 1) }));
    await parked(loop, 2);
    expect(loop.inputs).toHaveLength(1);
    expect(loop.commits[1]).toMatchObject({ consumed: ['m2'], questions: ['task:help:3'] });
    loop.send(mail('m3', { sender: 'carol', verdict: verdict('approve', 0) }));
    await parked(loop, 3);
    expect(loop.inputs).toHaveLength(2);
  });

  test('PC-14: a question that nobody answered in time wakes the loop; a call then counts as denied', async () => {
    const loop = startLoop([asks(0), turn({ calls: [judged(0)] }), turn({ decision: 'wait' })], {
      help: () => ({
        question: { id: 'task:help:9', participantIds: ['alice'], surfaced: [], expiresAt: 1000 },
      }),
      approval: () => ({ expiresAt: 2000 }),
    });
    await parked(loop, 1);
    loop.passTime(1000);
    await parked(loop, 2);
    expect(loop.inputs[1]?.mail).toEqual([{ type: 'expired', questionId: 'task:help:9' }]);
    loop.passTime(1000);
    await parked(loop, 3);
    expect(loop.decided).toMatchObject([{ decided: { message: null } }]);
    expect(loop.state.questions).toEqual([]);
  });

  test('LP-2, DU-8: a task that ends by itself stays WORKING while a sub-task runs; its end opens the next exchange', async () => {
    const loop = startLoop([spawns, turn({ decision: 'wait' }), turn({ decision: 'complete' })], {
      conversation: 'single',
    });
    await parked(loop, 1);
    expect(loop.commits[0]).toMatchObject({ state: 'WORKING', subState: null });
    loop.report({ taskId: 'child_0', state: 'COMPLETED', questions: [] });
    await loop.ended;
    expect(loop.inputs[2]).toMatchObject({ exchange: 2, mail: [{ type: 'child', taskId: 'child_0' }] });
  });

  test('LP-2: an open conversation is parked while a sub-task runs', async () => {
    const loop = startLoop([spawns, turn({ decision: 'wait' })]);
    await parked(loop, 1);
    expect(loop.commits[0]).toMatchObject({ state: 'INPUT_REQUIRED', subState: 'awaiting-next-message' });
  });

  const ASKED = {
    id: 'child_0:help:1',
    participantIds: ['alice'],
    surfaced: ['task:help:7', 'grand:help:2'],
  };

  test('ST-3: the question of a sub-task parks the task with it, and is passed on to the task above in turn', async () => {
    const loop = startLoop([spawns, turn({ decision: 'wait' })], { conversation: 'single', parent: 'grand' });
    await parked(loop, 1);
    loop.report({ taskId: 'child_0', state: 'INPUT_REQUIRED', questions: [ASKED] });
    await parked(loop, 2);
    expect(loop.commits[1]).toMatchObject({
      state: 'INPUT_REQUIRED',
      subState: 'awaiting-answer',
      questions: ['task:help:7'],
    });
    expect(loop.reports.at(-1)).toMatchObject({
      state: 'INPUT_REQUIRED',
      questions: [{ id: 'task:help:7', surfaced: ['grand:help:2'] }],
    });
  });

  test('ST-3: its answer goes on to the sub-task without a turn of the model', async () => {
    const loop = startLoop([spawns, turn({ decision: 'wait' })]);
    await parked(loop, 1);
    loop.report({ taskId: 'child_0', state: 'INPUT_REQUIRED', questions: [ASKED] });
    await parked(loop, 2);
    loop.send(mail('m2'));
    await parked(loop, 3);
    expect(loop.forwarded).toMatchObject([{ key: 'm2', to: { taskId: 'child_0', questionId: ASKED.id } }]);
    expect(loop.inputs).toHaveLength(2);
    expect(loop.commits[2]).toMatchObject({
      consumed: ['m2'],
      text: { from: 'forwarded', taskIds: ['child_0'] },
    });
  });

  test('ST-3: answered elsewhere, the question is gone, and the status says so', async () => {
    const loop = startLoop([spawns, turn({ decision: 'wait' })], { conversation: 'single' });
    await parked(loop, 1);
    loop.report({ taskId: 'child_0', state: 'INPUT_REQUIRED', questions: [ASKED] });
    await parked(loop, 2);
    loop.report({ taskId: 'child_0', state: 'WORKING', questions: [], report: 2 });
    await parked(loop, 3);
    expect(loop.commits[2]).toMatchObject({ state: 'WORKING', questions: [], text: { from: 'nothing' } });
  });

  test('DU-8: a report that is older than the last one, or comes before the spawn is known, is taken for what it is', async () => {
    const loop = startLoop([spawns, turn({ decision: 'wait' }), turn({ decision: 'complete' })], {
      conversation: 'single',
      spawn: () => {
        // The sub-task is quicker than the news that it was started.
        loop.report({ taskId: 'child_0', state: 'WORKING', questions: [], report: 3 });
        return { child: 'child_0', log: 9 };
      },
    });
    await parked(loop, 1);
    loop.report({ taskId: 'child_0', state: 'INPUT_REQUIRED', questions: [ASKED], report: 2 });
    expect(loop.state.questions).toEqual([]);
    expect(loop.state.children).toEqual([{ taskId: 'child_0', state: 'WORKING', report: 3 }]);
    loop.report({ taskId: 'child_0', state: 'FAILED', questions: [], report: 4 });
    await loop.ended;
    expect(loop.inputs).toHaveLength(3);
  });

  test('LP-5: a task that ends takes its open sub-tasks with it, and only those', async () => {
    const two = turn({
      calls: [0, 1].map((ordinal) => gated(ordinal, { kind: 'spawn', repeatable: false })),
    });
    const loop = startLoop([two, turn({ decision: 'wait' })], { conversation: 'single' });
    await parked(loop, 1);
    loop.report({ taskId: 'child_0', state: 'COMPLETED', questions: [] });
    loop.cancel('alice');
    await loop.ended;
    expect(loop.canceled).toEqual(['child_1']);
    expect(loop.commits.at(-1)).toMatchObject({ state: 'CANCELED' });
  });

  test('PC-13: nobody completes a task with an open sub-task', async () => {
    const loop = startLoop([spawns, turn({ decision: 'wait' })]);
    await parked(loop, 1);
    expect(loop.send(mail('m2', { control: 'complete' })).refusal).toContain('open sub-tasks');
  });

  test('PC-6: a task that was given to a participant asks with its goal, and their message completes it', async () => {
    // The brief is the agent's own.
    const loop = startLoop([], { worker: 'participant', lifecycle: 'delegated', agentId: 'alice' });
    await parked(loop, 1);
    expect(loop.commits[0]).toMatchObject({
      state: 'INPUT_REQUIRED',
      subState: null,
      text: { from: 'goal' },
      consumed: ['m1'],
    });
    loop.send(mail('m2', { sender: 'bob', role: 'assignee' }));
    await loop.ended;
    expect(loop.commits[1]).toMatchObject({ state: 'COMPLETED', text: { from: 'message', key: 'm2' } });
    expect(loop.inputs).toEqual([]);
  });

  test('SF-5: commands run one after the other, beside the conversation, and wake nobody', async () => {
    const loop = startLoop([turn({ decision: 'wait' })]);
    await parked(loop, 1);
    expect(loop.send(mail('m2', { command: 'status' }))).toMatchObject({ accepted: true });
    loop.send(mail('m3', { command: 'status' }));
    await loop.until(() => loop.commands.length === 2 && loop.state.commands.length === 0);
    expect(loop.commands.map(({ key }) => key)).toEqual(['m2', 'm3']);
    expect([loop.inputs.length, loop.commits.length]).toEqual([1, 1]);
    expect(loop.send(mail('m3', { command: 'status' }))).toMatchObject({ duplicate: true });
  });
});
