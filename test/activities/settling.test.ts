import { expect, test } from 'vitest';
import { z } from 'zod';
import { HarnessError, HookAbort, RetryableProviderError } from '../../src/core/base/index.ts';
import { HookChain, type OperationScope } from '../../src/core/hooks/index.ts';
import type { CommitInput } from '../../src/core/loop/index.ts';
import { defineTool, type Tool } from '../../src/core/tools/index.ts';
import { commit } from '../../src/service/durable/activities/commit.ts';
import { Conversations } from '../../src/service/durable/activities/conversation.ts';
import type { ActivityDeps } from '../../src/service/durable/activities/deps.ts';
import { judgeFailure, reportLoss } from '../../src/service/durable/activities/failures.ts';
import { modelTurn } from '../../src/service/durable/activities/model-turn.ts';
import { requestHelp } from '../../src/service/durable/activities/request-help.ts';
import { runTool } from '../../src/service/durable/activities/run-tool.ts';
import { call, reply, ScriptedLlm, type ScriptedReply } from '../../src/testing/index.ts';
import { DATA } from '../store/contract.ts';
import { type ActivityRig, activityRig } from '../support/activities.ts';

const first = { exchange: 1, turn: 0 };

/** A tool with a ledger: one line for each run. */
function ledgerTool(ledger: string[], rest: Partial<Tool> & { readonly during?: () => Promise<void> } = {}) {
  const { during, ...changed } = rest;
  const tool = defineTool({
    name: 'app/order',
    description: 'Orders paint.',
    input: z.strictObject({ colour: z.string() }),
    async run({ colour }) {
      ledger.push(colour);
      await during?.();
      return `ordered ${colour}`;
    },
  });
  return { ...tool, ...changed };
}

const order = (): ScriptedReply => call('app/order', { colour: 'blue' });

const runTurn = (rig: ActivityRig) => modelTurn(rig.deps, rig.conversations, rig.turn(), rig.run);

/** The turn after the first one: what the model is sent, with `conversations` warm or cold. */
async function nextRequest(rig: ActivityRig, conversations = rig.conversations, rest = {}) {
  const llm = rig.deps.llm as ScriptedLlm;
  await modelTurn(rig.deps, conversations, rig.turn({ turn: 1, mail: [], unread: first, ...rest }), rig.run);
  return llm.requests.at(-1)?.input ?? [];
}

async function resultsRead(rig: ActivityRig): Promise<string[]> {
  return (await nextRequest(rig)).flatMap((item) => (item.type === 'tool_result' ? [item.text] : []));
}

function commitInput(rig: ActivityRig, rest: Partial<CommitInput> = {}): CommitInput {
  const { taskId, storeId } = rig.turn();
  return {
    taskId,
    storeId,
    key: 'state:0',
    exchange: 1,
    turn: 1,
    tokensTotal: 0,
    costTotal: null,
    state: 'CANCELED',
    subState: null,
    text: { from: 'canceled', by: 'alice', calls: [] },
    questions: [],
    consumed: ['m1'],
    ...rest,
  };
}

/** Everything the store holds of the task that a late writer could change. */
async function snapshot({ store }: ActivityRig) {
  const keys = ['response:1.0', 'model:1.0', 'model:1.1', 'ran:1.0.0', 'result:1.0.0', 'result:1.1.0'];
  const task = await store.task('task');
  return {
    task,
    log: await store.log('task'),
    effects: [...(await store.effects('task', keys))],
    transcript: await store.transcript('task', { after: 0, upTo: 1000 }),
  };
}

const settle = (rig: ActivityRig, code: 'store_unavailable' | 'provider.retryable', message: string) =>
  runTool(rig.deps, rig.call(0, { mode: 'settle', failure: { code, message } }), rig.run);

test('DU-4: a tool ran and its post hook failed; settling resumes from what it returned and runs nothing', async () => {
  const ledger: string[] = [];
  const hooks = new HookChain();
  let down = true;
  hooks.on('tool.invoked.post', () => {
    if (down) throw new Error('the audit service is down');
  });
  const rig = await activityRig(new ScriptedLlm([order(), reply('ok')]), {
    tools: [ledgerTool(ledger)],
    hooks,
  });
  await runTurn(rig);
  await expect(runTool(rig.deps, rig.call(0), rig.run)).rejects.toThrow('audit service');
  down = false;
  await settle(rig, 'store_unavailable', 'the audit service is down');
  expect(ledger).toEqual(['blue']);
  const [read] = await resultsRead(rig);
  expect(read).toContain('ordered blue');
  expect(read).not.toContain('unknown');
});

test('DU-3: a tool ran and its result could not be saved; settling says that its outcome is unknown', async () => {
  const ledger: string[] = [];
  const rig = await activityRig(new ScriptedLlm([order(), reply('ok')]), { tools: [ledgerTool(ledger)] });
  await runTurn(rig);
  const deps: ActivityDeps = {
    ...rig.deps,
    failpoint(point) {
      if (point === 'tool.ran') throw new HarnessError('store_unavailable', 'the disk is full');
    },
  };
  await expect(runTool(deps, rig.call(0), rig.run)).rejects.toThrow('disk is full');
  await settle(rig, 'store_unavailable', 'the disk is full');
  await settle(rig, 'store_unavailable', 'another word');
  expect(ledger).toEqual(['blue']);
  const [read] = await resultsRead(rig);
  expect(read).toMatch(/tool\.outcome_unknown.*the disk is full.*may or may not have taken effect/s);
});

test('DU-4: a read-only tool whose attempts ran out shows the model its last error', async () => {
  const rig = await activityRig(new ScriptedLlm([order(), reply('ok')]), {
    tools: [ledgerTool([], { annotations: { readOnlyHint: true } })],
  });
  await runTurn(rig);
  await settle(rig, 'provider.retryable', 'the shop is closed');
  const [read] = await resultsRead(rig);
  expect(read).toContain('provider.retryable: the shop is closed');
  expect(read).not.toContain('may or may not');
});

test('crash row "a late writer changes nothing": a turn that was cut takes its key, and what finishes late is dropped', async () => {
  const gate = Promise.withResolvers<void>();
  const called = Promise.withResolvers<void>();
  const llm = new ScriptedLlm(async (_request, number) => {
    if (number > 1) return reply('to both');
    called.resolve();
    await gate.promise;
    return order();
  });
  const rig = await activityRig(llm, { tools: [ledgerTool([])] });
  const late = runTurn(rig);
  await called.promise;
  const next = rig.turn({ turn: 1, interrupted: [first] });
  const output = await modelTurn(rig.deps, rig.conversations, next, rig.run);
  const before = await snapshot(rig);
  gate.resolve();
  await expect(late).rejects.toMatchObject({ code: 'turn.interrupted' });
  expect(await snapshot(rig)).toEqual(before);
  expect(await modelTurn(rig.deps, rig.conversations, next, rig.run)).toEqual(output);
  expect(llm.requests).toHaveLength(2);
});

test('crash row "interrupt or cancel races a saving turn": a turn saved before it was cut stands, its calls stopped', async () => {
  const ledger: string[] = [];
  const llm = new ScriptedLlm([order(), reply('ok')]);
  const rig = await activityRig(llm, { tools: [ledgerTool(ledger)] });
  const saved = await runTurn(rig);
  await modelTurn(rig.deps, rig.conversations, rig.turn({ turn: 1, interrupted: [first] }), rig.run);
  const read = llm.requests[1]?.input.map((item) => item.type);
  expect(read).toEqual(['user', 'user', 'assistant', 'tool_result']);
  // The attempt that lost its answer finds what it saved; a run of the call finds that it was given up.
  expect(await runTurn(rig)).toMatchObject({ calls: saved.calls });
  await runTool(rig.deps, rig.call(0), rig.run);
  expect(ledger).toEqual([]);
});

test('crash row "a late writer changes nothing": a call given up is settled, and its late result is not read', async () => {
  const gate = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const during = () => {
    started.resolve();
    return gate.promise;
  };
  const llm = new ScriptedLlm([order(), reply('ok'), reply('cold')]);
  const rig = await activityRig(llm, { tools: [ledgerTool([], { during })] });
  await runTurn(rig);
  const late = runTool(rig.deps, rig.call(0), rig.run);
  await started.promise;
  const [read] = await resultsRead(rig);
  expect(read).toMatch(/tool\.outcome_unknown/);
  const before = await snapshot(rig);
  gate.resolve();
  expect(await late).toMatchObject({ isError: true });
  expect(await snapshot(rig)).toEqual(before);

  // A worker that remembers the conversation and one that reads it from the store send the same.
  const third = { turn: 2, unread: null };
  const warm = await nextRequest(rig, rig.conversations, third);
  const again = await activityRig(new ScriptedLlm([reply('warm')]));
  const cold = await modelTurn(
    { ...rig.deps, llm: again.deps.llm },
    new Conversations(rig.store),
    rig.turn({ turn: 3, mail: [], unread: null }),
    rig.run,
  ).then(() => (again.deps.llm as ScriptedLlm).requests[0]?.input);
  expect(cold?.slice(0, warm.length)).toEqual(warm);
});

test('invariant 3: nothing is added to a task that has ended by a turn or a call that finishes late', async () => {
  const gate = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const during = () => {
    started.resolve();
    return gate.promise;
  };
  const rig = await activityRig(new ScriptedLlm([order(), reply('late')]), {
    tools: [ledgerTool([], { during })],
  });
  await runTurn(rig);
  const late = runTool(rig.deps, rig.call(0), rig.run);
  await started.promise;
  await commit(rig.deps, rig.conversations, commitInput(rig), rig.run);
  const before = await snapshot(rig);
  gate.resolve();
  await late;
  await modelTurn(rig.deps, rig.conversations, rig.turn({ turn: 1, mail: [], unread: first }), rig.run);
  const second = commitInput(rig, { key: 'state:1', state: 'COMPLETED' });
  expect(await commit(rig.deps, rig.conversations, second, rig.run)).toMatchObject({ state: 'CANCELED' });
  expect(await snapshot(rig)).toEqual(before);
});

test.each([
  ['HookAbort', new HookAbort('no')],
  ['an error', new Error('down')],
])('HK-4: %s in task.state_changed.post neither fails nor blocks the commit', async (_name, thrown) => {
  const hooks = new HookChain();
  hooks.on('task.state_changed.post', () => {
    throw thrown;
  });
  const rig = await activityRig(new ScriptedLlm([]), { hooks });
  const heard: unknown[] = [];
  const deps: ActivityDeps = { ...rig.deps, report: (event) => void heard.push(event) };
  expect(await commit(deps, rig.conversations, commitInput(rig), rig.run)).toMatchObject({
    state: 'CANCELED',
  });
  expect((await rig.store.task('task'))?.state).toBe('CANCELED');
  expect(heard).toContainEqual(
    expect.objectContaining({ kind: 'failure', activity: 'task.state_changed.post' }),
  );
});

test('crash row "commit done, workflow task lost": the commit made again finds itself and adds nothing', async () => {
  const rig = await activityRig(new ScriptedLlm([]));
  const one = await commit(rig.deps, rig.conversations, commitInput(rig), rig.run);
  const before = await snapshot(rig);
  expect(await commit(rig.deps, rig.conversations, commitInput(rig), { ...rig.run, attempt: 2 })).toEqual(
    one,
  );
  expect(await snapshot(rig)).toEqual(before);
});

test('DU-4: an executor of activity.failed.pre that breaks changes nothing; HookAbort ends the attempts', async () => {
  const hooks = new HookChain();
  const rig = await activityRig(new ScriptedLlm([]), { hooks });
  const at = { activity: 'modelTurn', taskId: 'task', attempt: 1 };
  const error = new HarnessError('store_unavailable', 'the disk is full');
  const plain = await judgeFailure(rig.deps, error, at);
  const remove = hooks.on('activity.failed.pre', () => {
    throw new Error('a bug in the hook');
  });
  const broken = await judgeFailure(rig.deps, error, at);
  expect([broken.type, broken.message, broken.nonRetryable]).toEqual([
    plain.type,
    plain.message,
    plain.nonRetryable,
  ]);
  remove();
  hooks.on('activity.failed.pre', () => {
    throw new HookAbort('enough');
  });
  const aborted = await judgeFailure(rig.deps, error, at);
  expect(aborted).toMatchObject({ type: 'store_unavailable', nonRetryable: true });
  expect(aborted.message).toContain('(enough)');
});

test('HK-5: the hooks of a failed attempt, and of a lost worker, know the task and who is on it', async () => {
  const hooks = new HookChain();
  const scopes: OperationScope[] = [];
  for (const point of ['activity.failed.pre', 'activity.retried.pre'] as const) {
    hooks.on(point, ({ scope }) => void scopes.push(scope));
  }
  const rig = await activityRig(new ScriptedLlm([]), { hooks });
  const at = { activity: 'modelTurn', taskId: 'task', attempt: 2 };
  await judgeFailure(rig.deps, new RetryableProviderError('busy'), at);
  await reportLoss(rig.deps, at);
  const expected = { taskId: 'task', contextId: 'context', participants: DATA.participants, attempt: 2 };
  expect(scopes).toMatchObject([expected, expected, expected, expected]);

  await rig.store.close();
  await judgeFailure(rig.deps, new HarnessError('store_unavailable', 'the disk is gone'), at);
  expect(scopes.at(-1)).toMatchObject({ taskId: 'task', participants: [] });
});

test('PC-4, HK-11: asking again after the question was published does not decide again', async () => {
  const hooks = new HookChain();
  let decided = 0;
  hooks.on('help.decided.pre', () => {
    decided += 1;
  });
  const rig = await activityRig(
    new ScriptedLlm([call('ask_participant', { participant_id: 'alice', question: 'Red?' })]),
    { hooks },
  );
  await runTurn(rig);
  const one = await requestHelp(rig.deps, rig.call(0), rig.run);
  expect(await requestHelp(rig.deps, rig.call(0), { ...rig.run, attempt: 2 })).toEqual({ ...one, tokens: 0 });
  expect(decided).toBe(1);
});

test('HK-3: an "in" executor of plan.created or step.finished replaces what the intrinsic would do', async () => {
  const hooks = new HookChain();
  for (const point of ['plan.created.in', 'step.finished.in'] as const) {
    hooks.on(point, (context) => ({ ...context, result: { text: `${point} instead`, isError: false } }));
  }
  const answer = {
    calls: [
      { name: 'create_plan', arguments: { steps: [{ name: 'A', description: '' }] } },
      { name: 'complete_step', arguments: { step: 'A', output: 'did it' } },
    ],
  };
  const rig = await activityRig(new ScriptedLlm([answer, reply('ok')]), { hooks });
  await runTurn(rig);
  expect((await rig.store.task('task'))?.data.plan).toBeNull();
  expect(await resultsRead(rig)).toEqual(['plan.created.in instead', 'step.finished.in instead']);
});

test('HK-3: an "in" executor of help.requested answers the call itself, and nobody is asked', async () => {
  const hooks = new HookChain();
  hooks.on('help.requested.in', (context) => ({
    ...context,
    result: { text: 'red, says the policy', isError: false },
  }));
  const rig = await activityRig(
    new ScriptedLlm([
      call('ask_participant', { participant_id: 'alice', question: 'Red?' }),
      reply('red then'),
    ]),
    { hooks },
  );
  expect((await runTurn(rig)).calls).toMatchObject([{ kind: 'done' }]);
  expect(await resultsRead(rig)).toEqual(['red, says the policy']);
  expect(await rig.store.log('task', { kinds: ['question'] })).toEqual([]);
});

test('HK-1: the in and post phases of tool.invoked run for intrinsics too', async () => {
  const hooks = new HookChain();
  const heard: string[] = [];
  for (const phase of ['pre', 'in', 'post'] as const) {
    hooks.on(`tool.invoked.${phase}`, ({ input, scope }) => {
      heard.push(`${phase} ${input.name} ${scope.entity?.kind}`);
    });
  }
  hooks.on('tool.invoked.post', (context) => ({
    ...context,
    result: { text: `${context.result?.text} (noted)`, isError: false },
  }));
  const rig = await activityRig(
    new ScriptedLlm([call('create_plan', { steps: [{ name: 'A', description: '' }] }), reply('ok')]),
    { hooks },
  );
  await runTurn(rig);
  expect(heard).toEqual(['pre', 'in', 'post'].map((phase) => `${phase} create_plan intrinsic`));
  expect((await resultsRead(rig))[0]).toMatch(/\(noted\)$/);
});
