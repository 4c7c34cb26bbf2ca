import { beforeEach, describe, expect, test } from 'vitest';
import { HarnessError } from '../base/index.ts';
import { asks, carrying, gated, hanging, mail, startLoop, turn } from './fixtures/rig.ts';
import { type CarriedState, type Outcome, receive, type TurnInput, type TurnOutput } from './index.ts';

function keysOf(input: TurnInput | undefined): string[] {
  return (input?.mail ?? []).flatMap((each) => (each.type === 'message' ? [each.key] : []));
}

describe.each([
  ['in one run', false],
  ['LP-8: carried over after every turn', true],
])('%s', (_name, carries) => {
  beforeEach(() => {
    carrying.on = carries;
  });

  test('LP-2: a plain reply parks an open conversation, and the next message opens the next exchange', async () => {
    const loop = startLoop([turn({ decision: 'wait' }), turn({ decision: 'wait' })]);
    await loop.until(() => loop.state.phase === 'parked' && loop.commits.length === 1);
    expect(loop.commits[0]).toMatchObject({
      state: 'INPUT_REQUIRED',
      subState: 'awaiting-next-message',
      exchange: 1,
    });

    expect(loop.send(mail('m2'))).toMatchObject({ accepted: true, duplicate: false, exchange: 2 });
    await loop.until(() => loop.commits.length === 2);
    expect(loop.inputs[1]?.mail).toEqual([{ type: 'message', key: 'm2' }]);
  });

  test('LP-2: a single conversation completes on a plain reply', async () => {
    const loop = startLoop([turn({ decision: 'complete' })], { conversation: 'single' });
    expect(await loop.ended).toBe('ended');
    expect(loop.commits.map((commit) => commit.state)).toEqual(['COMPLETED']);
  });

  test('invariant 4: a message that comes while a turn runs is worked on before the task parks', async () => {
    let send: () => void = () => {};
    const loop = startLoop(
      [
        () => {
          send();
          return turn({ decision: 'complete' })();
        },
        turn({ decision: 'complete' }),
      ],
      { conversation: 'single' },
    );
    send = () => loop.send(mail('m2'));
    await loop.ended;
    expect(loop.inputs.map((input) => keysOf(input))).toEqual([['m1'], ['m2']]);
    expect(loop.commits).toHaveLength(1);
  });

  test('invariant 4: the inbox takes nothing between a decision and its commit, and opens again after a park', async () => {
    const refused: unknown[] = [];
    const loop = startLoop([turn({ decision: 'wait' }), turn({ decision: 'wait' })], {
      beforeCommit: () => {
        if (refused.length > 0) return;
        try {
          loop.send(mail('m2'));
        } catch (error) {
          refused.push(error);
        }
      },
    });
    await loop.until(() => loop.commits.length === 1 && loop.state.phase === 'parked');
    expect(refused[0]).toBeInstanceOf(HarnessError);
    expect(loop.send(mail('m2')).accepted).toBe(true);
    await loop.until(() => loop.commits.length === 2);
  });

  test('invariant 3: a commit that finds another terminal state is adopted', async () => {
    const loop = startLoop([turn({ decision: 'wait' })], { committed: 'CANCELED' });
    expect(await loop.ended).toBe('ended');
    expect(loop.commits).toMatchObject([{ state: 'INPUT_REQUIRED' }]);
    expect(loop.state.state).toBe('CANCELED');
  });

  test('PC-4: a question parks after its batch; the answer goes to it and leaves the other open', async () => {
    const loop = startLoop([asks(0, 1), turn({ decision: 'wait' })]);
    await loop.until(() => loop.commits.length === 1 && loop.state.phase === 'parked');
    expect(loop.commits[0]).toMatchObject({
      subState: 'awaiting-answer',
      questions: ['task:help:3', 'task:help:4'],
    });

    loop.send(mail('m2'));
    await loop.until(() => loop.commits.length === 2);
    expect(loop.inputs[1]?.mail).toEqual([{ type: 'message', key: 'm2', answers: 'task:help:3' }]);
    expect(loop.commits[1]).toMatchObject({ subState: 'awaiting-answer', questions: ['task:help:4'] });
  });

  test('PC-4: nobody answers the question of another, but an admin may', async () => {
    const loop = startLoop([asks(0), turn({ decision: 'wait' })]);
    await loop.until(() => loop.state.phase === 'parked' && loop.commits.length === 1);
    const inReplyTo = 'task:help:3';
    expect(loop.send(mail('m2', { sender: 'dave', inReplyTo })).refusal).toMatch(/somebody else/);
    expect(loop.state.questions).toHaveLength(1);
    expect(loop.send(mail('m3', { sender: 'carol', role: 'admin', inReplyTo })).accepted).toBe(true);
    expect(loop.state.questions).toHaveLength(0);
  });

  test('AS-10: the same message again gets the first receipt and no second turn', async () => {
    const loop = startLoop([turn({ decision: 'wait' })]);
    await loop.until(() => loop.state.phase === 'parked' && loop.commits.length === 1);
    expect(loop.send(mail('m1'))).toMatchObject({ accepted: true, duplicate: true, exchange: 1 });
    expect(loop.state.mailbox).toEqual([]);
  });

  test('LP-5: a cancel cuts the running turn and ends the task', async () => {
    const loop = startLoop([hanging]);
    await loop.until(() => loop.inputs.length === 1);
    await Promise.resolve();
    loop.cancel('alice');
    await loop.ended;
    expect(loop.commits).toMatchObject([
      { state: 'CANCELED', consumed: ['m1'], text: { from: 'canceled', by: 'alice' } },
    ]);
  });

  test('LP-2: "control complete" during a turn cuts the turn and completes', async () => {
    const loop = startLoop([hanging]);
    await loop.until(() => loop.inputs.length === 1);
    await Promise.resolve();
    loop.send(mail('m2', { control: 'complete' }));
    await loop.ended;
    expect(loop.commits).toMatchObject([
      { state: 'COMPLETED', text: { from: 'completed_by', participantId: 'alice' }, consumed: ['m1', 'm2'] },
    ]);
  });

  test('LP-4: an interrupt cuts the running turn, gives up its key and goes on with the message', async () => {
    const loop = startLoop([hanging, turn({ decision: 'wait' })]);
    await loop.until(() => loop.inputs.length === 1);
    await Promise.resolve();
    expect(loop.send(mail('m2', { interrupt: true }))).toMatchObject({ accepted: true, exchange: 1 });
    await loop.until(() => loop.commits.length === 1);
    expect(loop.inputs[1]).toMatchObject({
      turn: 1,
      interrupted: [{ exchange: 1, turn: 0 }],
      mail: [{ key: 'm1' }, { key: 'm2' }],
    });
    expect(loop.commits[0]).toMatchObject({ state: 'INPUT_REQUIRED', exchange: 1, consumed: [] });
    expect(loop.state.interrupted).toEqual([]);
  });

  test('LP-4: an interrupt cuts calls that are safe to repeat, waits for others, and skips those not begun', async () => {
    const calls = [true, false, true].map((repeatable, ordinal) => gated(ordinal, { repeatable }));
    const loop = startLoop([turn({ calls }), turn({ decision: 'wait' })], {
      duringTool: (ordinal, signal) => {
        if (ordinal === 1) loop.send(mail('m2', { interrupt: true }));
        return signal.aborted;
      },
    });
    await loop.until(() => loop.commits.length === 1);
    expect(loop.ran).toEqual(['start 0', 'end 0', 'start 1', 'end 1']);
    expect(loop.cutDuring).toEqual([false, false]);
    expect(loop.inputs[1]?.unread).toEqual({ exchange: 1, turn: 0 });
  });

  test('LP-5: a cancel reaches a call that is not safe to repeat, and says what became of each running one', async () => {
    const calls = [gated(0), gated(1), gated(2, { repeatable: false })];
    const loop = startLoop([turn({ calls })], {
      duringTool: (ordinal, signal) => {
        if (ordinal === 2) loop.cancel('alice');
        return signal.aborted;
      },
    });
    await loop.ended;
    expect(loop.cutDuring).toEqual([false, false, true]);
    expect(loop.commits).toMatchObject([
      { state: 'CANCELED', text: { calls: [{ exchange: 1, turn: 0, ordinal: 2, outcome: 'unknown' }] } },
    ]);
  });

  test('LP-5: a canceled task names the calls of the turn that was cut, and none of a turn before it', async () => {
    const calls = [gated(0)];
    const loop = startLoop([turn({ calls }), hanging], {
      duringTool: (_ordinal, signal) => {
        loop.send(mail('m2', { interrupt: true }));
        return signal.aborted;
      },
    });
    await loop.until(() => loop.inputs.length === 2);
    await Promise.resolve();
    loop.cancel('alice');
    await loop.ended;
    expect(loop.cutDuring).toEqual([true]);
    expect(loop.commits).toMatchObject([{ state: 'CANCELED', text: { calls: [] } }]);
  });

  test('LP-3: the working time of every turn counts, that of the last one of an exchange too', async () => {
    const loop = startLoop(
      Array.from({ length: 3 }, () => turn({ decision: 'wait' })),
      { limits: { turnsPerExchange: 5, repeatedCalls: 3, workingTimeMs: 1000 }, turnTakesMs: 600 },
    );
    for (const key of ['m2', 'm3']) {
      const commits = loop.commits.length;
      await loop.until(() => loop.state.phase === 'parked' && loop.commits.length > commits);
      loop.send(mail(key));
    }
    await loop.ended;
    expect(loop.commits.map((commit) => commit.state)).toEqual([
      'INPUT_REQUIRED',
      'INPUT_REQUIRED',
      'FAILED',
    ]);
    expect(loop.inputs).toHaveLength(2);
  });

  test('LP-3: waiting for a message is no working time', async () => {
    const loop = startLoop(
      Array.from({ length: 3 }, () => turn({ decision: 'wait' })),
      { limits: { turnsPerExchange: 5, repeatedCalls: 3, workingTimeMs: 1000 } },
    );
    for (const key of ['m2', 'm3']) {
      await loop.until(
        () => loop.state.phase === 'parked' && loop.state.mailbox.length === 0 && loop.state.exchange > 0,
      );
      loop.passTime(10_000);
      loop.send(mail(key));
    }
    await loop.until(() => loop.commits.length === 3);
    expect(loop.commits.map((commit) => commit.state)).toEqual(
      Array.from({ length: 3 }, () => 'INPUT_REQUIRED'),
    );
    expect(loop.state.workingMs).toBe(0);
  });

  test('LP-2: a failed turn ends a task in its first exchange and parks it in a later one, keeping the message', async () => {
    const failing = (): Outcome<TurnOutput> => ({ kind: 'failed', code: 'provider.error', message: 'no' });
    const first = startLoop([failing]);
    await first.ended;
    expect(first.commits).toMatchObject([
      { state: 'FAILED', text: { from: 'failure', code: 'provider.error' } },
    ]);

    const later = startLoop([turn({ decision: 'wait' }), failing, turn({ decision: 'wait' })]);
    await later.until(() => later.state.phase === 'parked' && later.commits.length === 1);
    later.send(mail('m2'));
    await later.until(() => later.state.phase === 'parked' && later.commits.length === 2);
    expect(later.commits[1]).toMatchObject({ state: 'INPUT_REQUIRED', consumed: ['m2'] });
    later.send(mail('m3'));
    await later.until(() => later.commits.length === 3);
    expect(keysOf(later.inputs[2])).toEqual(['m2', 'm3']);
  });

  test('LP-3: the limit of turns is a clear failure, and a repeated call asks the reporter', async () => {
    const call = gated(0);
    const different = startLoop(
      Array.from({ length: 6 }, () => turn({ calls: [call] })),
      {
        limits: { turnsPerExchange: 2, repeatedCalls: 9 },
      },
    );
    await different.ended;
    expect(different.inputs).toHaveLength(2);
    expect(different.commits).toMatchObject([
      {
        state: 'FAILED',
        text: { code: 'limit.exceeded', message: expect.stringContaining('2 model turns') },
      },
    ]);

    const same = startLoop(Array.from({ length: 6 }, () => turn({ calls: [call] })));
    await same.until(() => same.commits.length === 1);
    expect(same.inputs).toHaveLength(3);
    expect(same.commits).toMatchObject([
      {
        state: 'INPUT_REQUIRED',
        text: { message: expect.stringContaining('same call with the same result 3 times') },
      },
    ]);
  });

  test('LP-3: the limit of cost is a clear failure, and what has no price does not count', async () => {
    const limits = { turnsPerExchange: 9, repeatedCalls: 9, cost: 1 };
    const calling = (cost?: number) => turn({ calls: [gated(0)], ...(cost === undefined ? {} : { cost }) });
    const loop = startLoop([calling(), calling(0.4), calling(), calling(0.6), calling()], { limits });
    await loop.ended;
    expect(loop.inputs.map(({ costTotal }) => costTotal)).toEqual([null, null, 0.4, 0.4]);
    expect(loop.commits).toMatchObject([
      {
        state: 'FAILED',
        costTotal: 1,
        text: { code: 'limit.exceeded', message: expect.stringContaining('limit of 1 ') },
      },
    ]);
  });

  test('LP-3: working time is looked at in every turn', async () => {
    const call = gated(0);
    const loop = startLoop(
      Array.from({ length: 5 }, () => turn({ calls: [call] })),
      {
        limits: { turnsPerExchange: 50, repeatedCalls: 50, workingTimeMs: 1000 },
        turnTakesMs: 600,
      },
    );
    await loop.ended;
    expect(loop.inputs).toHaveLength(2);
    expect(loop.commits).toMatchObject([
      { state: 'FAILED', text: { message: expect.stringContaining('1 s of work') } },
    ]);
  });

  test('TL-6: repeatable calls run at once; one that is not waits for those before it and is waited for', async () => {
    const calls = [true, true, false, true].map((repeatable, ordinal) => gated(ordinal, { repeatable }));
    const loop = startLoop([turn({ calls }), turn({ decision: 'wait' })]);
    await loop.until(() => loop.commits.length === 1);
    expect(loop.ran).toEqual([
      'start 0',
      'start 1',
      'end 0',
      'end 1',
      'start 2',
      'end 2',
      'start 3',
      'end 3',
    ]);
  });

  test('LP-8: what the loop knows survives as JSON, so continue-as-new loses nothing', async () => {
    const loop = startLoop([asks(0), turn({ decision: 'wait' })]);
    await loop.until(() => loop.state.phase === 'parked' && loop.commits.length === 1);
    const carried = JSON.parse(JSON.stringify(loop.state)) as CarriedState;
    expect(carried).toEqual(loop.state);
    expect(receive(carried, mail('m2'))).toMatchObject({ accepted: true, exchange: 2 });
    expect(carried.mailbox).toMatchObject([{ deed: { kind: 'answer', questionId: 'task:help:3' } }]);
  });
});
