import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WorkflowNotFoundError } from '@temporalio/client';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { SqliteStore } from '../../src/adapters/store/sqlite/index.ts';
import { RetryableProviderError } from '../../src/core/base/index.ts';
import { HookChain } from '../../src/core/hooks/index.ts';
import { defineTool } from '../../src/core/tools/index.ts';
import { derivedTaskId } from '../../src/service/admission/ids.ts';
import {
  call,
  type ModelReply,
  type ModelServer,
  reply,
  ScriptedLlm,
  startModelServer,
} from '../../src/testing/index.ts';
import { messageText, outline, sdkClient, stateOf, type TestClient } from '../support/client.ts';
import { configFile } from '../support/config.ts';
import { type OnFinished, startTestHarness, type TestHarness, testFolder } from '../support/harness.ts';
import { type Served, start } from '../support/serve.ts';

// One test for each row of the crash table. The rows "inbox row written, message not delivered" and "model turn saved,
// activity result lost" are in kill.test.ts.

const LEDGER = fileURLToPath(new URL('./ledger.fixture.ts', import.meta.url));
const single = { conversation: 'single' };

/** What the log says of a task, read from the store itself. */
const logOf = (folder: string, taskId: string) => readStore(folder, (store) => store.log(taskId));

async function readStore<T>(folder: string, read: (store: SqliteStore) => Promise<T>): Promise<T> {
  const store = SqliteStore.open(join(folder, 'store.db'));
  try {
    return await read(store);
  } finally {
    await store.close();
  }
}

const statesOf = async (folder: string, taskId: string) =>
  (await logOf(folder, taskId)).flatMap(({ body }) => (body.kind === 'state' ? [body.state] : []));

/** Makes writes fail while `when` holds of the new row, as a full disk does; returns what mends it. */
function breakStore(folder: string, table: 'inbox' | 'events', when: string): () => void {
  const database = new Database(join(folder, 'store.db'));
  database.exec(
    `create trigger broken before insert on ${table} when ${when} begin select raise(abort, 'the disk is full'); end`,
  );
  return () => {
    database.exec('drop trigger broken');
    database.close();
  };
}

const commitsOf = (state: string) => `new.kind = 'state' and json_extract(new.body, '$.state') = '${state}'`;

/** A promise for the n-th time that `happened` is called. */
function nth(count: number): { readonly happened: () => void; readonly promise: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = count;
  return {
    happened: () => {
      left -= 1;
      if (left === 0) resolve();
    },
    promise,
  };
}

// ---- Killed processes, at the same time: what a lost worker had begun goes on seconds later.

/** An agent in processes that are killed at a failpoint and started again on the same store. */
class Killed {
  readonly folder: string;
  readonly model: ModelServer;
  readonly #config: string;
  readonly #onFinished: OnFinished;

  private constructor(folder: string, config: string, model: ModelServer, onFinished: OnFinished) {
    this.folder = folder;
    this.#config = config;
    this.model = model;
    this.#onFinished = onFinished;
  }

  static async create(onFinished: OnFinished, replies: readonly ModelReply[]): Promise<Killed> {
    const folder = testFolder(onFinished);
    let requests = 0;
    const model = await startModelServer({ replies: () => replies[requests++] ?? { text: 'too many' } });
    onFinished(() => model.close());
    writeFileSync(join(folder, 'ledger'), '');
    const config = configFile(folder, model);
    return new Killed(folder, config, model, onFinished);
  }

  serve(env: Record<string, string> = {}, args: readonly string[] = ['--with-worker']): Promise<Served> {
    return this.#start(['serve', ...args], env);
  }

  worker(): Promise<Served> {
    return this.#start(['worker'], {});
  }

  /** Serves until the failpoint kills it, while alice sends a message; starts again, and she sends it again. */
  async killedAt(failpoint: string, args?: readonly string[], metadata: Record<string, unknown> = single) {
    const message = { text: 'go', messageId: 'm1', metadata };
    const first = await this.serve({ TINY_HARNESS_FAILPOINT: failpoint }, args);
    await expect((await sdkClient(first.url, 'alice')).send(message)).rejects.toThrow();
    expect(await first.ended).toBe('SIGKILL');
    const alice = await sdkClient((await this.serve({}, args)).url, 'alice');
    return { alice, task: await alice.send(message), message };
  }

  #start(args: readonly string[], env: Record<string, string>): Promise<Served> {
    const all = [...args, '--config', this.#config, '--tools', LEDGER];
    return start(all, { LEDGER_FILE: join(this.folder, 'ledger'), ...env }, this.#onFinished);
  }

  ledger(): string[] {
    const lines = readFileSync(join(this.folder, 'ledger'), 'utf8').split('\n').slice(0, -1);
    return lines.filter((line) => !line.includes('.p'));
  }

  hooks(point: string): number {
    return readFileSync(join(this.folder, 'ledger'), 'utf8')
      .split('\n')
      .filter((line) => line === point).length;
  }

  /** The last thing a tool said to the model. */
  lastRead(): string {
    return JSON.stringify(this.model.requests.at(-1)?.body);
  }
}

describe.concurrent('killed', { timeout: 90_000 }, () => {
  test('update accepted, response lost: the retry gets the same receipt, after the end too', async ({
    onTestFinished: onFinished,
  }) => {
    const agent = await Killed.create(onFinished, [{ text: 'Heard.' }]);
    // The worker lives on: what was accepted is worked on while nobody answers for it.
    await agent.worker();
    const { alice, task, message } = await agent.killedAt('admission.delivered', []);
    expect(stateOf(task)).toBe('COMPLETED');
    expect(messageText(task.status?.message)).toBe('Heard.');
    expect(await alice.send(message)).toEqual(task);
    expect(agent.model.requests).toHaveLength(1);
    const log = await logOf(agent.folder, task.id);
    expect(log.filter(({ body }) => body.kind === 'message')).toHaveLength(1);
    expect(agent.hooks('request.received.pre')).toBe(1);
  });

  test('tool ran, result not saved: the outcome is unknown, and the tool ran once', async ({
    onTestFinished: onFinished,
  }) => {
    const agent = await Killed.create(onFinished, [
      { calls: [{ name: 'ledger/record', arguments: { order: 'a' } }] },
      { text: 'Perhaps.' },
    ]);
    const { task } = await agent.killedAt('tool.ran');
    expect(messageText(task.status?.message)).toBe('Perhaps.');
    expect(agent.ledger()).toEqual(['record a']);
    expect(agent.lastRead()).toContain('tool.outcome_unknown');
    expect(agent.model.requests).toHaveLength(2);
  });

  test('tool ran, result not saved: a tool that is safe to repeat is run again', async ({
    onTestFinished: onFinished,
  }) => {
    const agent = await Killed.create(onFinished, [
      { calls: [{ name: 'ledger/look', arguments: { order: 'a' } }] },
      { text: 'Seen.' },
    ]);
    const { task } = await agent.killedAt('tool.ran');
    expect(messageText(task.status?.message)).toBe('Seen.');
    expect(agent.ledger()).toEqual(['look a', 'look a']);
    expect(agent.lastRead()).toContain('did look a');
    expect(agent.model.requests).toHaveLength(2);
  });

  test('tool saved, result lost: the saved result is read, and the tool ran once', async ({
    onTestFinished: onFinished,
  }) => {
    const agent = await Killed.create(onFinished, [
      { calls: [{ name: 'ledger/record', arguments: { order: 'a' } }] },
      { text: 'Done.' },
    ]);
    const { task } = await agent.killedAt('tool.saved');
    expect(messageText(task.status?.message)).toBe('Done.');
    expect(agent.ledger()).toEqual(['record a']);
    expect(agent.lastRead()).toContain('did record a');
    expect(agent.lastRead()).not.toContain('unknown');
  });

  test('commit done, workflow task lost: the commit is adopted, once', async ({
    onTestFinished: onFinished,
  }) => {
    const agent = await Killed.create(onFinished, [{ text: 'One.' }, { text: 'Two.' }]);
    const { alice, task } = await agent.killedAt('commit.saved', undefined, {});
    expect(messageText(task.status?.message)).toBe('One.');
    // The next message is taken only by a loop that has adopted its commit.
    const next = await alice.send({ text: 'more', taskId: task.id });
    expect(messageText(next.status?.message)).toBe('Two.');
    expect(agent.model.requests).toHaveLength(2);
    expect(await statesOf(agent.folder, task.id)).toEqual([
      'SUBMITTED',
      'WORKING',
      'INPUT_REQUIRED',
      'WORKING',
      'INPUT_REQUIRED',
    ]);
  });

  test('cancel against commit: a tool that ignores its signal delays the end by a bounded wait, and is unknown', async ({
    onTestFinished: onFinished,
  }) => {
    const running = Promise.withResolvers<void>();
    const stubborn = defineTool({
      name: 'app/stubborn',
      description: 'Runs on, whatever is asked of it.',
      input: z.object({}),
      async run() {
        running.resolve();
        await released.promise;
        return 'late';
      },
    });
    const released = Promise.withResolvers<void>();
    const at = await started([call('app/stubborn'), reply('never')], { tools: [stubborn], onFinished });
    onFinished(() => released.resolve());
    const { id } = await at.alice.send({ text: 'go', returnImmediately: true });
    await running.promise;
    const begun = performance.now();
    const canceled = await cancel(at.alice, id);
    expect(performance.now() - begun).toBeLessThan(20_000);
    expect(messageText(canceled.status?.message)).toBe('Canceled by alice.\napp/stubborn: unknown');
    released.resolve();
    await at.harness.stop();
    expect((await logOf(at.folder, id)).at(-1)?.body).toMatchObject({ kind: 'state', state: 'CANCELED' });
  });

  test('two servers admit the same first message: one task, and hooks of the second do not run again', async ({
    onTestFinished: onFinished,
  }) => {
    const answer = Promise.withResolvers<void>();
    const agent = await Killed.create(onFinished, [{ text: 'One.', hold: answer.promise }, { text: 'Two.' }]);
    const one = await sdkClient((await agent.serve()).url, 'alice');
    const two = await sdkClient((await agent.serve({}, [])).url, 'alice');

    // Stored by the first, and not answered yet.
    const message = { text: 'go', messageId: 'm1', metadata: single };
    const { id } = await one.send({ ...message, returnImmediately: true });
    const waiting = two.send(message);
    answer.resolve();
    expect((await waiting).id).toBe(id);
    for (const point of ['request.received.pre', 'task.created.pre', 'task.created.post'])
      expect(agent.hooks(point), point).toBe(1);

    // At the same moment on both; what happens when one is slow, refuses or dies is in admission.test.ts.
    const same = { text: 'go', messageId: 'm2', metadata: single };
    const both = await Promise.all([one.send(same), two.send(same)]);
    expect(both[0]).toEqual(both[1]);
    expect(messageText(both[0].status?.message)).toBe('Two.');
    for (const point of ['request.received.pre', 'task.created.pre', 'task.created.post'])
      expect(agent.hooks(point), point).toBe(2);
    expect(agent.model.requests).toHaveLength(2);
  });
});

// ---- In one process.

/** A harness with an open task of alice whose hooks the test sets, and its parts. */
async function started(script: ConstructorParameters<typeof ScriptedLlm>[0], options = {}) {
  const llm = new ScriptedLlm(script);
  const hooks = new HookChain();
  const at = await startTestHarness(llm, { hooks, ...options });
  return { ...at, llm, hooks, alice: await sdkClient(at.url, 'alice') };
}

const cancel = (alice: TestClient, id: string) =>
  alice.sdk.cancelTask({ id, tenant: '', metadata: undefined });

const workflowOf = ({ harness }: TestHarness, id: string) => harness.client.workflow.getHandle(id);

/** What a promise came to, without failing the test. */
const settledBy = <T>(promise: Promise<T>) =>
  promise.then(
    (value) => ({ value, error: undefined }),
    (error: unknown) => ({ value: undefined, error: error as Error & { readonly code?: number } }),
  );

test('repeated first message, workflow long gone: the row in the store answers, and there is no second run', async () => {
  const before = await started([reply('Done.')]);
  const message = { text: 'go', messageId: 'm1', metadata: single };
  const task = await before.alice.send(message);
  const { client } = before.harness;
  await client.workflowService.deleteWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: task.id },
  });
  const described = () => settledBy(client.workflow.getHandle(task.id).describe());
  await expect
    .poll(async () => (await described()).error, { timeout: 10_000 })
    .toBeInstanceOf(WorkflowNotFoundError);
  await before.harness.stop();

  const { folder, agentId } = before;
  const after = await started([], { folder, agentId });
  expect(await after.alice.send(message)).toEqual(task);
  expect(after.llm.requests).toHaveLength(0);
  await expect(workflowOf(after, task.id).describe()).rejects.toBeInstanceOf(WorkflowNotFoundError);
});

test('interrupt or cancel races a saving turn: log, conversation and state tell of one outcome', async () => {
  // Every second task is cut from the hook that runs last before the turn is saved, the others a moment earlier.
  const at = await started((request) => {
    const both = request.input.filter((item) => item.type === 'user').length > 2;
    return reply(both ? 'to both' : 'to one');
  });
  const cutting = new Map<string, () => void>();
  const racing: Promise<unknown>[] = [];
  for (const point of ['llm.invoked.post', 'task.complete.post'] as const) {
    at.hooks.on(point, async ({ scope }) => {
      const name = `${scope.taskId}:${point}`;
      cutting.get(name)?.();
      cutting.delete(name);
    });
  }
  const tasks = Array.from({ length: 8 }, (_, index) => {
    const messageId = `race-${index}`;
    const id = derivedTaskId(at.agentId, 'alice', messageId);
    const point = index % 2 === 0 ? 'llm.invoked.post' : 'task.complete.post';
    const cut =
      index < 4
        ? () => cancel(at.alice, id)
        : () => at.alice.send({ text: 'two', taskId: id, metadata: { interrupt: true } });
    cutting.set(`${id}:${point}`, () => void racing.push(settledBy(cut())));
    return { id, messageId, canceled: index < 4 };
  });
  await Promise.all(tasks.map(({ messageId }) => at.alice.send({ text: 'one', messageId })));
  await Promise.all(racing);
  for (const { id, canceled } of tasks) {
    const log = await logOf(at.folder, id);
    const said = log.flatMap(({ body }) =>
      body.kind === 'response' || body.kind === 'note' ? [body.text] : [],
    );
    const states = log.flatMap(({ body }) => (body.kind === 'state' ? [body.state] : []));
    if (canceled) {
      expect(states.filter((state) => state === 'CANCELED')).toHaveLength(1);
      expect(states.at(-1)).toBe('CANCELED');
    } else {
      expect(said.at(-1)).toBe('to both');
      const [answered] = at.llm.requests.filter(
        ({ cacheKey, input }) => cacheKey === id && JSON.stringify(input).includes('two'),
      );
      // The model reads of its first answer if, and only if, people do.
      expect(answered?.input.some((item) => item.type === 'assistant')).toBe(said.includes('to one'));
    }
  }
});

test('cancel against commit: a task that ended first stays as it ended, and who cancels is told', async () => {
  const at = await started([reply('Done.')]);
  const canceling = Promise.withResolvers<unknown>();
  at.hooks.on('task.state_changed.post', ({ input, scope }) => {
    // The row is written, its workflow does not know yet.
    if (input.state === 'COMPLETED') canceling.resolve(settledBy(cancel(at.alice, scope.taskId ?? '')));
  });
  const task = await at.alice.send({ text: 'go', metadata: single });
  expect(await canceling.promise).toMatchObject({ error: { name: 'TaskNotCancelableError' } });
  expect(stateOf(task)).toBe('COMPLETED');
  await workflowOf(at, task.id).result();
  expect(await at.alice.task(task.id)).toEqual(task);
});

test('cancel against commit: a cancel that came first wins over the turn that finishes after it', async () => {
  const at = await started([reply('Done.')]);
  at.hooks.on('task.complete.pre', async ({ scope }) => {
    await workflowOf(at, scope.taskId ?? '').signal('cancel', 'alice');
  });
  const task = await at.alice.send({ text: 'go', metadata: single });
  expect(stateOf(task)).toBe('CANCELED');
  await workflowOf(at, task.id).result();
  expect(await at.alice.task(task.id)).toEqual(task);
  expect(await cancel(at.alice, task.id)).toEqual(task);
  expect(await statesOf(at.folder, task.id)).toEqual(['SUBMITTED', 'WORKING', 'CANCELED']);
});

/** Sends m1, and m2 while the commit of what came of m1 is under way and cannot be stored; then the store is mended. */
async function sendDuringCommit(
  at: Awaited<ReturnType<typeof started>>,
  state: string,
  metadata: Record<string, unknown>,
) {
  const committing = nth(1);
  at.hooks.on('activity.failed.pre', ({ input }) => {
    if (input.activity === 'commit') committing.happened();
  });
  const mend = breakStore(at.folder, 'events', commitsOf(state));
  const first = at.alice.send({ text: 'one', messageId: 'm1', metadata });
  await committing.promise;
  const late = { text: 'two', messageId: 'm2', taskId: derivedTaskId(at.agentId, 'alice', 'm1') };
  const second = settledBy(at.alice.send(late));
  const unconsumed = () => readStore(at.folder, (store) => store.unconsumed(10));
  await expect.poll(async () => (await unconsumed()).map((row) => row.messageId)).toContain('m2');
  mend();
  return { first: await first, second: await second, late };
}

test('message against park: one that comes while the commit is under way is worked on afterwards', async () => {
  const at = await started([reply('One.'), reply('Two.')]);
  const { first, second } = await sendDuringCommit(at, 'INPUT_REQUIRED', {});
  expect(messageText(first.status?.message)).toBe('One.');
  expect(messageText(second.value?.status?.message)).toBe('Two.');
  expect(second.value?.id).toBe(first.id);
  expect(await statesOf(at.folder, first.id)).toEqual([
    'SUBMITTED',
    'WORKING',
    'INPUT_REQUIRED',
    'WORKING',
    'INPUT_REQUIRED',
  ]);
});

test('message against end: one that comes while the last commit is under way has an error of its own, again and again', async () => {
  const at = await started([reply('Done.')]);
  const { first, second, late } = await sendDuringCommit(at, 'COMPLETED', single);
  expect(stateOf(first)).toBe('COMPLETED');
  expect(second.error?.message).toContain('COMPLETED and accepts nothing more');
  expect((await settledBy(at.alice.send(late))).error?.message).toBe(second.error?.message);
  expect(at.llm.requests).toHaveLength(1);
  const log = await logOf(at.folder, first.id);
  expect(log.filter(({ body }) => body.kind === 'message')).toHaveLength(1);
});

test('store fails at admission: the caller is told, nothing was started, and the message can be sent again', async () => {
  const at = await started([reply('Heard.')]);
  const mend = breakStore(at.folder, 'inbox', 'true');
  const message = { text: 'go', messageId: 'm1', metadata: single };
  const { error } = await settledBy(at.alice.send(message));
  expect(error?.message).toContain('cannot admit a message: the disk is full');
  const taskId = derivedTaskId(at.agentId, 'alice', 'm1');
  expect(await readStore(at.folder, (store) => store.task(taskId))).toBeUndefined();
  await expect(workflowOf(at, taskId).describe()).rejects.toBeInstanceOf(WorkflowNotFoundError);
  mend();
  expect(messageText((await at.alice.send(message)).status?.message)).toBe('Heard.');
  expect(at.llm.requests).toHaveLength(1);
});

test('store fails at a commit: the commit waits for the store, and nothing else is done again', async () => {
  const settings = {
    retries: {
      default: { initial_interval: '20ms', maximum_attempts: 1 },
      per_activity: { commit: { initial_interval: '20ms', maximum_attempts: 0 } },
    },
  };
  const at = await started([reply('Done.')], { settings });
  const failed = nth(3);
  at.hooks.on('activity.failed.pre', ({ input }) => {
    if (input.activity === 'commit') failed.happened();
  });
  const mend = breakStore(at.folder, 'events', commitsOf('COMPLETED'));
  const sent = at.alice.send({ text: 'go', messageId: 'm1', metadata: single });
  await failed.promise;
  const taskId = derivedTaskId(at.agentId, 'alice', 'm1');
  expect(stateOf(await at.alice.task(taskId))).toBe('WORKING');
  mend();
  expect(stateOf(await sent)).toBe('COMPLETED');
  expect(at.llm.requests).toHaveLength(1);
  expect(await statesOf(at.folder, taskId)).toEqual(['SUBMITTED', 'WORKING', 'COMPLETED']);
});

test('DU-3: a result that cannot be saved is settled as unknown once the store is back', async () => {
  const runs = nth(1);
  const record = defineTool({
    name: 'app/record',
    description: 'Records.',
    input: z.object({}),
    run() {
      runs.happened();
      return 'recorded';
    },
  });
  const at = await started([call('app/record'), reply('Perhaps.')], { tools: [record] });
  const mend = breakStore(
    at.folder,
    'events',
    "new.kind = 'tool' and json_extract(new.body, '$.phase') = 'finished'",
  );
  let failures = 0;
  at.hooks.on('activity.failed.pre', ({ input }) => {
    if (input.activity === 'runTool') failures += 1;
    if (failures === 2) mend();
  });
  const task = await at.alice.send({ text: 'go', metadata: single });
  expect(messageText(task.status?.message)).toBe('Perhaps.');
  expect(failures).toBe(2);
  expect(JSON.stringify(at.llm.requests[1]?.input)).toContain('tool.outcome_unknown');
});

test('task row without workflow: the task is FAILED with the reason, for whoever writes to it', async () => {
  const at = await started([reply('Hello.')]);
  const { id } = await at.alice.send({ text: 'go' });
  await workflowOf(at, id).terminate('an operator did it');
  const { error } = await settledBy(at.alice.send({ text: 'more', taskId: id }));
  expect(error?.message).toContain('FAILED and accepts nothing more');
  const task = await at.alice.task(id);
  expect(stateOf(task)).toBe('FAILED');
  expect(messageText(task.status?.message)).toContain('its workflow is TERMINATED');
  const again = await settledBy(at.alice.send({ text: 'more', taskId: id }));
  expect(again.error?.message).toBe(error?.message);
});

test('task row without workflow: the task is FAILED with the reason, for whoever cancels it', async () => {
  const at = await started([reply('Hello.')]);
  const { id } = await at.alice.send({ text: 'go' });
  await workflowOf(at, id).terminate('an operator did it');
  expect(await settledBy(cancel(at.alice, id))).toMatchObject({ error: { name: 'TaskNotCancelableError' } });
  const task = await at.alice.task(id);
  expect(stateOf(task)).toBe('FAILED');
  expect(messageText(task.status?.message)).toContain('its workflow is TERMINATED');
});

/** Two people follow a conversation with a question in it; what they saw, and in how many runs it was worked on. */
async function followed(historyEventBound: number) {
  const at = await started(
    (request, number) =>
      number === 2
        ? call('ask_participant', { participant_id: 'alice', question: 'Which?' })
        : reply(`answer ${number}: ${JSON.stringify(request.input).includes('in answer to the question')}`),
    { settings: { context: { history_event_bound: historyEventBound } } },
  );
  const task = await at.alice.send({ text: 'one' });
  const listening = nth(2);
  const follow = async () => {
    const seen: string[] = [];
    for await (const event of at.alice.sdk.resubscribeTask({ id: task.id, tenant: '' })) {
      listening.happened();
      const update =
        event.payload?.$case === 'statusUpdate' ? messageText(event.payload.value.status?.message) : '';
      seen.push(`${outline([event]).join()} ${update}`.replaceAll(task.id, 'task'));
    }
    return seen;
  };
  const following = [follow(), follow()];
  await listening.promise;
  // A run is carried over with the message that opens its first exchange in the mailbox, the answer among them.
  await at.alice.send({ text: 'ask me', taskId: task.id });
  await at.alice.send({ text: 'this one', taskId: task.id });
  await at.alice.send({ text: 'three', taskId: task.id });
  await cancel(at.alice, task.id);
  const seen = await Promise.all(following);
  let runs = 0;
  for await (const { workflowId } of at.harness.client.workflow.list({ query: `WorkflowId = '${task.id}'` }))
    if (workflowId === task.id) runs += 1;
  return { seen, runs };
}

test('continue-as-new with an open question and a mailbox: nothing changes for anybody', async () => {
  const [whole, carried] = await Promise.all([followed(2000), followed(1)]);
  expect(carried.seen[0]).toEqual(whole.seen[0]);
  expect(carried.seen[1]).toEqual(carried.seen[0]);
  expect(whole.seen[0]).toContain('status:INPUT_REQUIRED answer 3: true');
  await expect.poll(() => carried.runs).toBe(4);
  expect(whole.runs).toBe(1);
});

test('DU-4: an endpoint that asks for hours is asked again after ten minutes, and a cancel need not wait', async () => {
  const busy = new RetryableProviderError('busy', { status: 429, retryAfterMs: 36_000_000 });
  const at = await started([{ error: busy }]);
  const failed = nth(1);
  at.hooks.on('activity.retried.pre', failed.happened);
  const sent = at.alice.send({ text: 'go', messageId: 'm1' });
  await failed.promise;
  const taskId = derivedTaskId(at.agentId, 'alice', 'm1');
  const timers = async () =>
    ((await workflowOf(at, taskId).fetchHistory()).events ?? []).flatMap((event) =>
      event.timerStartedEventAttributes
        ? [Number(event.timerStartedEventAttributes.startToFireTimeout?.seconds)]
        : [],
    );
  await expect.poll(timers).toEqual([600]);
  await cancel(at.alice, taskId);
  expect(stateOf(await sent)).toBe('CANCELED');
});
