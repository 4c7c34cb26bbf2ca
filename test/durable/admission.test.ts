import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { SqliteStore } from '../../src/adapters/store/sqlite/index.ts';
import { COMMANDS } from '../../src/builtin/index.ts';
import { HarnessError, HookAbort, silentLogger } from '../../src/core/base/index.ts';
import type { Delivery, DeliveryPort, InboundRequest } from '../../src/core/channels/index.ts';
import { CommandRegistry } from '../../src/core/commands/index.ts';
import { HookChain, type OperationScope } from '../../src/core/hooks/index.ts';
import { type CarriedState, type MailItem, type Pending, receive } from '../../src/core/loop/index.ts';
import { Journal, LocalBus } from '../../src/core/persistence/index.ts';
import { createRedactor, createSecretRegistry } from '../../src/core/security/index.ts';
import { Admission } from '../../src/service/admission/index.ts';
import { FakeClock } from '../../src/testing/index.ts';
import { testFolder } from '../support/harness.ts';

/** Loops that never run anything: what was handed to them, and whether anybody can be reached. */
class Mailboxes implements DeliveryPort {
  reachable = true;
  readonly states = new Map<string, CarriedState>();

  async start(state: CarriedState, item: MailItem): Promise<Delivery> {
    this.#reach();
    // As Temporal does with USE_EXISTING: the first start's arguments stand.
    if (!this.states.has(state.taskId)) this.states.set(state.taskId, structuredClone(state));
    return this.deliver(state.taskId, item);
  }

  async deliver(taskId: string, item: MailItem): Promise<Delivery> {
    this.#reach();
    const state = this.states.get(taskId);
    return state ? { kind: 'receipt', receipt: receive(state, item) } : { kind: 'ended' };
  }

  async cancel(): Promise<boolean> {
    return false;
  }

  async fate(taskId: string): Promise<{ readonly kind: 'running' | 'missing' }> {
    return { kind: this.states.has(taskId) ? 'running' : 'missing' };
  }

  #reach(): void {
    if (!this.reachable) throw new HarnessError('temporal_unavailable', 'Temporal does not answer');
  }
}

/** Admission of one server; several share a folder, a clock and mailboxes. */
function rig({
  folder = testFolder(),
  clock = new FakeClock(),
  mailboxes = new Mailboxes(),
  commands = new CommandRegistry(),
} = {}) {
  const store = SqliteStore.open(join(folder, 'store.db'), clock);
  onTestFinished(() => store.close());
  const journal = new Journal(
    store,
    new LocalBus(),
    createRedactor(() => createSecretRegistry().snapshot()),
  );
  const hooks = new HookChain();
  const admission = new Admission({
    journal,
    delivery: mailboxes,
    hooks,
    commands,
    defaults: {
      agentId: 'painter',
      storeId: store.identity,
      conversation: 'open',
      limits: { turnsPerExchange: 5, repeatedCalls: 3 },
      searchAttributes: false,
    },
    delegators: [],
    maxRunningTasks: 3,
    idempotency: true,
    failpoint: () => {},
    logger: silentLogger,
  });
  return { store, journal, hooks, mailboxes, admission };
}

function request(messageId: string, rest: Partial<InboundRequest> = {}): InboundRequest {
  const text = rest.text ?? `text of ${messageId}`;
  return {
    sender: 'alice',
    senderKind: 'human',
    messageId,
    message: { parts: [{ kind: 'text', text }], extensions: [], referenceTaskIds: [] },
    bodyHash: `hash of ${messageId}`,
    text,
    interrupt: false,
    ...rest,
  };
}

function messageIdOf(each: Pending): string | undefined {
  return each.type === 'message' ? each.item.messageId : undefined;
}

/** Admits a first message that reaches nobody; returns the task it left. */
async function undelivered({ admission, mailboxes }: ReturnType<typeof rig>, first: InboundRequest) {
  mailboxes.reachable = false;
  let taskId = '';
  const admitted = admission.admit(first, (task) => {
    taskId = task.id;
  });
  await expect(admitted).rejects.toMatchObject({ code: 'temporal_unavailable' });
  mailboxes.reachable = true;
  return taskId;
}

test('DU-2: a message that comes while the first is undelivered does not take its place', async () => {
  const at = rig();
  const taskId = await undelivered(at, request('m1', { conversation: 'single' }));
  const second = await at.admission.admit(request('m2', { taskId }));
  expect(second).toMatchObject({ kind: 'accepted', exchange: 1 });
  const state = at.mailboxes.states.get(taskId);
  expect(state?.mailbox.map(messageIdOf)).toEqual(['m1', 'm2']);
  expect(state?.conversation).toBe('single');
  // Delivered again: a first message that is there already is a duplicate.
  await at.admission.redeliver(new AbortController().signal);
  expect(state?.mailbox).toHaveLength(2);
});

test('PC-3: a watcher who writes while the first message is undelivered is refused, and starts nothing', async () => {
  const at = rig();
  const participants = [
    { id: 'alice', kind: 'human' as const, role: 'reporter' as const },
    { id: 'wanda', kind: 'human' as const, role: 'watcher' as const },
  ];
  const taskId = await undelivered(at, request('m1', { brief: { goal: 'Paint', participants } as never }));
  const refused = await at.admission.admit(request('w1', { taskId, sender: 'wanda' }));
  expect(refused).toMatchObject({ kind: 'refused', reason: expect.stringContaining('watcher') });
  expect(at.mailboxes.states.size).toBe(0);
  expect((await at.store.unconsumed(10)).map((row) => row.messageId)).toEqual(['m1']);
});

test('HK-5: the hooks of a message for a task know the task and who is on it', async () => {
  const at = rig();
  const scopes: OperationScope[] = [];
  at.hooks.on('request.received.pre', ({ scope }) => void scopes.push(scope));
  const { task } = await at.admission.admit(request('m1'));
  await at.admission.admit(request('m2', { taskId: task.id }));
  expect(scopes[0]).not.toHaveProperty('taskId');
  expect(scopes[1]).toMatchObject({ agentId: 'painter', taskId: task.id, contextId: task.contextId });
  expect(scopes[1]?.participants).toEqual(task.data.participants);
  expect(task.data.participants.map(({ id }) => id)).toEqual(['alice', 'painter']);
});

test('HK-4: an abort in task.created.pre refuses the message and stores nothing', async () => {
  const at = rig();
  const remove = at.hooks.on('task.created.pre', () => {
    throw new HookAbort('not on Sundays');
  });
  await expect(at.admission.admit(request('m1'))).rejects.toThrow('not on Sundays');
  expect(await at.store.unconsumed(10)).toEqual([]);
  expect(at.mailboxes.states.size).toBe(0);
  remove();
  expect(await at.admission.admit(request('m1'))).toMatchObject({ kind: 'accepted', duplicate: false });
});

test.each([
  ['HookAbort', new HookAbort('no')],
  ['an error', new Error('down')],
])('HK-4: %s in task.created.post comes too late to stop the task', async (_name, thrown) => {
  const at = rig();
  at.hooks.on('task.created.post', () => {
    throw thrown;
  });
  expect(await at.admission.admit(request('m1'))).toMatchObject({ kind: 'accepted', exchange: 1 });
  expect(at.mailboxes.states.size).toBe(1);
});

test('AS-10: hooks run once for one message that comes many times at once', async () => {
  const at = rig();
  const ran: string[] = [];
  for (const point of ['request.received.pre', 'task.created.pre', 'task.created.post'] as const) {
    at.hooks.on(point, async () => {
      ran.push(point);
      await new Promise((resolve) => setImmediate(resolve));
    });
  }
  const all = await Promise.all(Array.from({ length: 5 }, () => at.admission.admit(request('m1'))));
  expect(new Set(all.map((outcome) => outcome.task.id)).size).toBe(1);
  expect(all.filter((outcome) => !outcome.duplicate)).toHaveLength(1);
  expect(ran).toEqual(['request.received.pre', 'task.created.pre', 'task.created.post']);
});

test('AS-10: when the first of two equal messages is refused by a hook, the second is looked at on its own', async () => {
  const at = rig();
  let refusals = 1;
  at.hooks.on('request.received.pre', () => {
    if (refusals-- > 0) throw new HookAbort('busy');
  });
  const [one, two] = await Promise.allSettled([
    at.admission.admit(request('m1')),
    at.admission.admit(request('m1')),
  ]);
  expect(one.status).toBe('rejected');
  expect(two).toMatchObject({ status: 'fulfilled', value: { kind: 'accepted' } });
});

/** Two servers on one store: the first is held by a hook, and the second has asked for the same message. */
async function twoServers() {
  const shared = { folder: testFolder(), clock: new FakeClock(), mailboxes: new Mailboxes() };
  const [one, two] = [rig(shared), rig(shared)];
  const [began, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const ran: string[] = [];
  one.hooks.on('request.received.pre', async () => {
    began.resolve();
    await held.promise;
    ran.push('one received');
  });
  one.hooks.on('task.created.pre', () => void ran.push('one created'));
  two.hooks.on('request.received.pre', () => void ran.push('two received'));
  two.hooks.on('task.created.pre', () => void ran.push('two created'));
  const claims = vi.spyOn(two.store, 'claim');
  const first = one.admission.admit(request('m1'));
  await began.promise;
  const second = two.admission.admit(request('m1'));
  await expect.poll(() => claims.mock.calls.length).toBeGreaterThan(1);
  return { ...shared, first, second, held, ran };
}

test('two servers admit the same first message at the same instant: one task, and hooks of the second do not run', async () => {
  const { first, second, held, ran, mailboxes } = await twoServers();
  expect(ran).toEqual([]);
  held.resolve();
  const [one, two] = await Promise.all([first, second]);
  expect([one.duplicate, two.duplicate]).toEqual([false, true]);
  expect(two.task.id).toBe(one.task.id);
  expect(ran).toEqual(['one received', 'one created']);
  expect(mailboxes.states.size).toBe(1);
});

test('two servers admit the same first message: when the first refuses it, the second looks at it on its own', async () => {
  const { first, second, held, ran } = await twoServers();
  held.reject(new HookAbort('not here'));
  await expect(first).rejects.toThrow('not here');
  expect(await second).toMatchObject({ kind: 'accepted', duplicate: false });
  expect(ran).toEqual(['two received', 'two created']);
});

test('two servers admit the same first message: when the first is gone, the second takes it over after a moment', async () => {
  const { first, second, held, ran, clock, mailboxes } = await twoServers();
  clock.advance(10_000);
  const two = await second;
  expect(two).toMatchObject({ kind: 'accepted', duplicate: false });
  expect(ran).toEqual(['two received', 'two created']);
  // It was only slow.
  held.resolve();
  expect(await first).toMatchObject({ kind: 'accepted', duplicate: true, task: { id: two.task.id } });
  expect(mailboxes.states.size).toBe(1);
});

test('HK-10: where no hook listens a message is not claimed', async () => {
  const at = rig();
  const claims = vi.spyOn(at.store, 'claim');
  await at.admission.admit(request('m1'));
  expect(claims).not.toHaveBeenCalled();
});

/** What became of admissions: `ok`, or the code of the error. */
async function outcomes(admissions: readonly Promise<unknown>[]) {
  return (await Promise.allSettled(admissions)).map((each) =>
    each.status === 'fulfilled' ? 'ok' : (each.reason as HarnessError).code,
  );
}

test('AS-12: of the first messages that come at once, as many open tasks as may run; each sender has a count', async () => {
  const at = rig();
  const sent = (sender: string, ids: readonly string[]) =>
    ids.map((id) => at.admission.admit(request(id, { sender })));
  const all = await outcomes([...sent('alice', ['a1', 'a2', 'a3', 'a4', 'a5']), ...sent('bob', ['b1'])]);
  const over = 'input.too_many_tasks';
  expect(all).toEqual(['ok', 'ok', 'ok', over, over, 'ok']);
  // One that is known is answered, and what is not stored may be sent again.
  expect(await outcomes(sent('alice', ['a1', 'a4']))).toEqual(['ok', over]);
  expect(await at.store.unconsumed(10)).toHaveLength(4);
});

test('AS-12: hooks do not run for a message that is over the limit, and one that they refuse takes no place', async () => {
  const at = rig();
  const seen: string[] = [];
  at.hooks.on('request.received.pre', ({ input }) => {
    seen.push(input.messageId);
    if (input.messageId === 'no') throw new HookAbort('no');
  });
  const all: string[] = [];
  for (const id of ['m1', 'm2', 'no', 'm3', 'm4']) {
    all.push(...(await outcomes([at.admission.admit(request(id))])));
  }
  expect(all).toEqual(['ok', 'ok', 'hook.abort', 'ok', 'input.too_many_tasks']);
  expect(seen).toEqual(['m1', 'm2', 'no', 'm3']);
});

test('AS-12: a conversation goes on only when one more task may run; to stop it is always possible', async () => {
  const at = rig();
  const [task] = await Promise.all(
    ['m1', 'm2', 'm3'].map(async (id) => (await at.admission.admit(request(id))).task),
  );
  const taskId = task?.id ?? '';
  const state = { state: 'INPUT_REQUIRED', subState: 'awaiting-next-message' } as const;
  await at.journal.write(taskId, {
    entries: [{ key: 'state:0', exchange: 1, body: { kind: 'state', ...state, text: null, questions: [] } }],
    state: { ...state, entry: 'state:0' },
  });
  await at.admission.admit(request('m4'));
  const more = (id: string, rest = {}) => at.admission.admit(request(id, { taskId, ...rest }));
  expect(await outcomes([more('m5'), more('m6', { control: 'complete', text: '' })])).toEqual([
    'input.too_many_tasks',
    'ok',
  ]);
});

test('AS-10, SF-5: a /cancel that reached nobody is passed on when it is sent again', async () => {
  const commands = new CommandRegistry();
  for (const command of COMMANDS) commands.register(command);
  const at = rig({ commands });
  const { task } = await at.admission.admit(request('m1'));
  const cancel = vi.spyOn(at.mailboxes, 'cancel');
  cancel.mockRejectedValueOnce(new HarnessError('temporal_unavailable', 'Temporal does not answer'));
  cancel.mockResolvedValue(true);
  const message = request('m2', { taskId: task.id, text: '/cancel' });
  await expect(at.admission.admit(message)).rejects.toMatchObject({ code: 'temporal_unavailable' });
  expect(await at.admission.admit(message)).toMatchObject({ kind: 'accepted', duplicate: true });
  expect(cancel).toHaveBeenCalledTimes(2);
});

test('AS-10: a message that came too late has the same error when it is sent again after the end', async () => {
  const at = rig();
  const { task } = await at.admission.admit(request('m1'));
  const end = async () => {
    await at.journal.write(task.id, {
      entries: [
        {
          key: 'state:0',
          exchange: 1,
          body: { kind: 'state', state: 'COMPLETED', subState: null, text: null, questions: [] },
        },
      ],
      state: { state: 'COMPLETED', subState: null, entry: 'state:0' },
      consumed: ['m1'],
    });
  };
  // The task ends after the message was stored and before any loop has it.
  const late = at.admission.admit(request('m2', { taskId: task.id }), () => void end());
  at.mailboxes.states.clear();
  const said = await late.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(said).toMatchObject({ code: 'task.ended' });
  await expect(at.admission.admit(request('m2', { taskId: task.id }))).rejects.toEqual(said);
  // One that was worked on keeps its receipt.
  expect(await at.admission.admit(request('m1'))).toMatchObject({ kind: 'accepted', duplicate: true });
});

test('PC-3: a message that the loop refused has the same answer when it is sent again', async () => {
  const at = rig();
  const { task } = await at.admission.admit(request('m1'));
  const state = at.mailboxes.states.get(task.id);
  state?.questions.push({ id: 'q', participantIds: ['bob'], surfaced: [] });
  const answer = request('m2', { taskId: task.id, channel: { channelId: task.id, inReplyTo: 'q' } });
  const refused = await at.admission.admit(answer);
  expect(refused).toMatchObject({ kind: 'refused', reason: expect.stringContaining('somebody else') });
  expect(await at.admission.admit(answer)).toMatchObject({
    kind: 'refused',
    duplicate: true,
    reason: refused.reason,
  });
  expect(state?.mailbox.map(messageIdOf)).toEqual(['m1']);
});

test('AS-10: a message that another process took to the end of its task meanwhile was accepted, not too late', async () => {
  const at = rig();
  const taskId = await undelivered(at, request('m1'));
  at.mailboxes.start = async (_state, item) => {
    await at.journal.write(taskId, {
      entries: [
        {
          key: 'ended',
          exchange: 1,
          body: { kind: 'state', state: 'COMPLETED', subState: null, text: null, questions: [] },
        },
      ],
      state: { state: 'COMPLETED', subState: null, entry: 'ended' },
      consumed: [item.key],
    });
    return { kind: 'ended' };
  };
  expect(await at.admission.admit(request('m1'))).toMatchObject({
    kind: 'accepted',
    duplicate: true,
    exchange: 1,
    task: { state: 'COMPLETED' },
  });
  await expect(at.admission.admit(request('m2', { taskId }))).rejects.toMatchObject({ code: 'task.ended' });
});
