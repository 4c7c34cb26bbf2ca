import { expect, test, vi } from 'vitest';
import { HarnessError } from '../../src/core/base/index.ts';
import type { AdmissionOutcome, DeliveryPort, LoopFate } from '../../src/core/channels/index.ts';
import type { TaskState } from '../../src/core/loop/index.ts';
import type { Journal, NewEntry } from '../../src/core/persistence/index.ts';
import { startBareServer } from './bare-server.ts';
import { BINDINGS, type Json, openStream, rpc, say, seen } from './raw.ts';

const alice = { participant: 'alice' };

function stateEntry(key: string, state: TaskState, exchange: number, text: string | null = null): NewEntry {
  return { key, exchange, body: { kind: 'state', state, subState: null, text, questions: [] } };
}

/** Writes states in one go: nobody sees the task between them. */
async function pass(journal: Journal, ...entries: NewEntry[]): Promise<void> {
  const last = entries.at(-1);
  if (last?.body.kind !== 'state') throw new Error('the last entry sets the state');
  const { state, subState } = last.body;
  await journal.write('t', { entries, state: { state, subState, entry: last.key } });
}

/** What is delivered reaches nobody; how often somebody asked after the loop. */
function loopThat(fate: LoopFate) {
  const away = () => Promise.reject(new HarnessError('worker_unavailable', 'no worker answered'));
  let asked = 0;
  const delivery: DeliveryPort = {
    start: away,
    deliver: away,
    cancel: async () => fate.kind === 'running',
    async fate() {
      asked += 1;
      return fate;
    },
  };
  return { delivery, asked: () => asked };
}

const terminated: LoopFate = { kind: 'ended', reason: 'its workflow is TERMINATED' };

/** A server whose task `t` works on alice's message. */
async function working(options: Parameters<typeof startBareServer>[0] = {}) {
  let journal: Journal | undefined;
  const admit = async (): Promise<AdmissionOutcome> => {
    const task = await journal?.store.task('t');
    if (task === undefined) throw new Error('there is no task');
    return { kind: 'accepted', task, key: 'k', exchange: 1, duplicate: false };
  };
  const open = () => Promise.reject(new Error('no sub-tasks here'));
  const server = await startBareServer({ admission: { admit, open }, ...options });
  journal = server.journal;
  await pass(server.journal, stateEntry('working:1', 'WORKING', 1));
  return server;
}

const statusOf = (task: unknown) => (task as { status: { state: string; message?: Json } }).status;

test.each(BINDINGS)(
  'over %s a blocking send answers with the end of its exchange, whatever began since',
  async (binding) => {
    const { url, journal, bus } = await working();
    const sent = rpc(url, 'SendMessage', say('Hi', { taskId: 't' }), { ...alice, binding });
    await bus.until(1);
    await pass(
      journal,
      stateEntry('state:0', 'INPUT_REQUIRED', 1, 'Done with yours.'),
      stateEntry('working:2', 'WORKING', 2),
    );
    const { result } = await sent;
    const { state, message } = statusOf(result?.task);
    expect(state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(message).toMatchObject({ parts: [{ text: 'Done with yours.' }] });
    expect(statusOf((await rpc(url, 'GetTask', { id: 't' }, alice)).result).state).toBe('TASK_STATE_WORKING');
  },
);

test.each(BINDINGS)(
  'over %s whoever waits for a task whose loop is gone hears that it failed, and why',
  async (binding) => {
    const { delivery, asked } = loopThat(terminated);
    const { url } = await working({ delivery, silenceMs: 50 });
    const options = { ...alice, binding };
    const [sent, streamed, subscribed] = await Promise.all([
      rpc(url, 'SendMessage', say('Hi', { taskId: 't' }), options),
      openStream(url, 'SendStreamingMessage', say('Hi', { taskId: 't' }), options).then((each) =>
        each.rest(),
      ),
      openStream(url, 'SubscribeToTask', { id: 't' }, options).then((each) => each.rest()),
    ]);
    expect(statusOf(sent.result?.task)).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: { parts: [{ text: 'The agent could not go on: its workflow is TERMINATED.' }] },
    });
    for (const events of [streamed, subscribed]) {
      expect(seen(events.at(-1) as never).state).toBe('FAILED');
    }
    expect(asked()).toBe(1);
  },
);

test('a task that is silent and runs is left alone, and asked about again', async () => {
  const { delivery, asked } = loopThat({ kind: 'running' });
  const { url, journal } = await working({ delivery, silenceMs: 20 });
  const stream = await openStream(url, 'SubscribeToTask', { id: 't' }, alice);
  await expect.poll(asked).toBeGreaterThan(2);
  expect((await journal.store.task('t'))?.state).toBe('WORKING');
  stream.drop();
});

test('a task that waits for somebody is silent by right: nobody asks', async () => {
  const { delivery, asked } = loopThat(terminated);
  const { url, journal, bus } = await working({ delivery, silenceMs: 20 });
  await pass(journal, stateEntry('state:0', 'INPUT_REQUIRED', 1));
  const stream = await openStream(url, 'SubscribeToTask', { id: 't' }, alice);
  await bus.until(1);
  const looked = vi.spyOn(journal.store, 'task');
  await expect.poll(() => looked.mock.calls.length).toBeGreaterThan(2);
  expect(asked()).toBe(0);
  stream.drop();
});

test.each(BINDINGS)(
  'over %s a cancel of a task whose loop is gone ends it, and says that it failed',
  async (binding) => {
    const { delivery } = loopThat(terminated);
    const { url, journal } = await working({ delivery });
    const cancel = () => rpc(url, 'CancelTask', { id: 't' }, { ...alice, binding });
    const { error } = await cancel();
    expect(error).toMatchObject({ code: -32002, message: 'task t is FAILED' });
    expect((await cancel()).error).toEqual(error);
    expect((await journal.store.task('t'))?.state).toBe('FAILED');
  },
);

test('a cancel of a task whose first message is still on its way says that it may be tried again', async () => {
  const { delivery } = loopThat({ kind: 'missing' });
  const { url, journal } = await startBareServer({ delivery });
  const { error } = await rpc(url, 'CancelTask', { id: 't' }, alice);
  expect(error).toMatchObject({ code: -32603, data: [{ reason: 'temporal_unavailable' }] });
  expect((await journal.store.task('t'))?.state).toBe('SUBMITTED');
});
