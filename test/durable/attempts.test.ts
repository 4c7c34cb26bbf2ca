import { expect, test } from 'vitest';
import { z } from 'zod';
import { HookAbort, ProviderError, RetryableProviderError } from '../../src/core/base/index.ts';
import { HookChain } from '../../src/core/hooks/index.ts';
import { defineTool } from '../../src/core/tools/index.ts';
import { call, reply, ScriptedLlm } from '../../src/testing/index.ts';
import { messageText, sdkClient, stateOf } from '../support/client.ts';
import { startTestHarness } from '../support/harness.ts';

const busy = () => ({ error: new RetryableProviderError('busy', { status: 503, retryAfterMs: 20 }) });

/** Ends when it is cut; says so. */
function blocking(options: { readonly annotations?: { readonly readOnlyHint?: boolean } } = {}) {
  let started: () => void = () => {};
  const running = new Promise<void>((resolve) => {
    started = resolve;
  });
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const seen: string[] = [];
  const tool = defineTool({
    name: 'app/block',
    description: 'Runs until it is told to stop.',
    input: z.object({}),
    annotations: options.annotations ?? {},
    async run(_args, context) {
      started();
      await Promise.race([
        released,
        new Promise<void>((resolve) => context.signal.addEventListener('abort', () => resolve())),
      ]);
      seen.push(context.signal.aborted ? 'cut' : 'finished');
      if (context.signal.aborted) throw new Error('cut');
      return 'finished';
    },
  });
  return { tool, running, release, seen };
}

test('DU-4: a failed attempt is tried again after its hooks had their say, and each attempt is told its number', async () => {
  const hooks = new HookChain();
  const heard: unknown[] = [];
  hooks.on(
    'activity.failed.pre',
    ({ input }) => void heard.push(['failed', input.activity, input.attempt, input.code]),
  );
  hooks.on('activity.retried.pre', (context) => {
    heard.push(['retried', context.input.attempt, context.input.delayMs]);
    return { ...context, input: { ...context.input, delayMs: 1 } };
  });
  const { url } = await startTestHarness([busy(), busy(), reply('at last')], { hooks });
  const task = await (await sdkClient(url, 'alice')).send({ text: 'go' });
  expect(messageText(task.status?.message)).toBe('at last');
  expect(heard).toEqual([
    ['failed', 'modelTurn', 1, 'provider.retryable'],
    ['retried', 1, 20],
    ['failed', 'modelTurn', 2, 'provider.retryable'],
    ['retried', 2, 20],
  ]);
});

test('DU-4: attempts are bounded by the policy, and codes it names are not tried again', async () => {
  const settings = { retries: { default: { initial_interval: '10ms', maximum_attempts: 3 } } };
  const bounded = new ScriptedLlm(() => ({ error: new RetryableProviderError('busy') }));
  const one = await startTestHarness(bounded, { settings });
  const failed = await (await sdkClient(one.url, 'alice')).send({ text: 'go' });
  expect(stateOf(failed)).toBe('FAILED');
  expect(messageText(failed.status?.message)).toContain('busy (provider.retryable)');
  expect(bounded.requests).toHaveLength(3);

  const named = new ScriptedLlm(() => ({ error: new RetryableProviderError('busy') }));
  const policy = { ...settings.retries.default, non_retryable_error_types: ['provider.retryable'] };
  const two = await startTestHarness(named, {
    settings: { retries: { per_activity: { model_turn: policy } } },
  });
  expect(stateOf(await (await sdkClient(two.url, 'alice')).send({ text: 'go' }))).toBe('FAILED');
  expect(named.requests).toHaveLength(1);
});

test('DU-4: a hook of a failure may end it for good, with its reason, or let a final failure be tried again', async () => {
  const ending = new HookChain();
  ending.on('activity.failed.pre', () => {
    throw new HookAbort('the budget is spent');
  });
  const llm = new ScriptedLlm([busy()]);
  const one = await startTestHarness(llm, { hooks: ending });
  const failed = await (await sdkClient(one.url, 'alice')).send({ text: 'go' });
  expect(messageText(failed.status?.message)).toContain('busy (the budget is spent)');
  expect(llm.requests).toHaveLength(1);

  const lenient = new HookChain();
  lenient.on('activity.failed.pre', (context) => ({
    ...context,
    input: { ...context.input, retryable: true },
  }));
  lenient.on('activity.retried.pre', (context) => ({ ...context, input: { ...context.input, delayMs: 1 } }));
  const two = await startTestHarness([{ error: new ProviderError('no', { status: 400 }) }, reply('yes')], {
    hooks: lenient,
  });
  expect(stateOf(await (await sdkClient(two.url, 'alice')).send({ text: 'go' }))).toBe('INPUT_REQUIRED');
});

test('SE-2: a key in a failure reaches neither the history nor the task', async () => {
  const key = 'sk-abcdefghijklmnop123456';
  const { url, harness } = await startTestHarness([{ error: new ProviderError(`refused ${key}`) }]);
  const task = await (await sdkClient(url, 'alice')).send({ text: 'go' });
  expect(messageText(task.status?.message)).toContain('refused [redacted]');
  const history = await harness.client.workflow.getHandle(task.id).fetchHistory();
  expect(JSON.stringify(history)).not.toContain(key);
});

test('HK-8: a hook sees no key, whoever wrote it', async () => {
  const key = 'sk-abcdefghijklmnop123456';
  const hooks = new HookChain();
  const seen: unknown[] = [];
  hooks.on('request.received.pre', ({ input }) => void seen.push(input.text));
  hooks.on('llm.invoked.post', ({ result }) => void seen.push(result?.text));
  const { url } = await startTestHarness([reply(`it is ${key}`)], { hooks });
  await (await sdkClient(url, 'alice')).send({ text: `my key is ${key}` });
  expect(seen).toEqual(['my key is [redacted]', 'it is [redacted]']);
});

test('LP-4: an interrupt cuts a model call within two seconds, and the answer is to both messages', async () => {
  const llm = new ScriptedLlm([reply('never', { delayMs: 60_000 }), reply('to both')]);
  const { url } = await startTestHarness(llm);
  const alice = await sdkClient(url, 'alice');
  const first = await alice.send({ text: 'one', returnImmediately: true });
  while (llm.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const started = performance.now();
  const answered = await alice.send({ text: 'two', taskId: first.id, metadata: { interrupt: true } });
  expect(performance.now() - started).toBeLessThan(2_000);
  expect(messageText(answered.status?.message)).toBe('to both');
  const said = llm.requests[1]?.input.flatMap((item) => (item.type === 'user' ? [item.text] : [])) ?? [];
  expect(said.filter((text) => text.startsWith('[message from alice]'))).toEqual([
    '[message from alice]\none',
    '[message from alice]\ntwo',
  ]);
  expect((await alice.task(first.id)).history.filter((message) => message.role === 1)).toHaveLength(2);
});

test('LP-4: an interrupt cuts a tool that is safe to repeat, and waits for one that is not', async () => {
  const safe = blocking({ annotations: { readOnlyHint: true } });
  const one = await startTestHarness([call('app/block'), reply('ok')], { tools: [safe.tool] });
  const alice = await sdkClient(one.url, 'alice');
  const task = await alice.send({ text: 'go', returnImmediately: true });
  await safe.running;
  await alice.send({ text: 'stop', taskId: task.id, metadata: { interrupt: true } });
  expect(safe.seen).toEqual(['cut']);

  const unsafe = blocking();
  const llm = new ScriptedLlm((_request, number) => (number === 1 ? call('app/block') : reply('ok')));
  const two = await startTestHarness(llm, { tools: [unsafe.tool] });
  const bob = await sdkClient(two.url, 'bob');
  const other = await bob.send({ text: 'go', returnImmediately: true });
  await unsafe.running;
  await bob.send({ text: 'stop', taskId: other.id, metadata: { interrupt: true }, returnImmediately: true });
  unsafe.release();
  const done = await bob.send({ text: 'and?', taskId: other.id });
  expect(unsafe.seen).toEqual(['finished']);
  expect(stateOf(done)).toBe('INPUT_REQUIRED');
  expect(JSON.stringify(llm.requests[1]?.input)).toContain('finished');
});

test('LP-5: a cancel reaches a running tool within two seconds, and the task says what became of it', async () => {
  const unsafe = blocking();
  const { url } = await startTestHarness([call('app/block'), reply('never')], { tools: [unsafe.tool] });
  const alice = await sdkClient(url, 'alice');
  const task = await alice.send({ text: 'go', returnImmediately: true });
  await unsafe.running;
  const started = performance.now();
  const canceled = await alice.sdk.cancelTask({ id: task.id, tenant: '', metadata: undefined });
  expect(performance.now() - started).toBeLessThan(2_000);
  expect(messageText(canceled.status?.message)).toBe('Canceled by alice.\napp/block: unknown');
});
