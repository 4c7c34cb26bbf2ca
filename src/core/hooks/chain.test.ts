import { expect, test } from 'vitest';
import { HookAbort } from '../base/index.ts';
import { createRedactor } from '../security/index.ts';
import { HookChain, type OperationScope, type ToolCallOutput } from './index.ts';

const scope: OperationScope = { agentId: 'a', participants: [], correlationId: 'c', attempt: 1 };
const input = { callId: 'c1', name: 'app/tool', arguments: { n: 1 } };
const body = (): ToolCallOutput => ({ text: 'body', isError: false });

test('HK-3: executors run by priority, then in the order they were added, each on what the one before returned', async () => {
  const hooks = new HookChain();
  const seen: unknown[] = [];
  const adding = (by: number) => (context: { input: typeof input }) => {
    seen.push(by, context.input.arguments.n);
    return { ...context, input: { ...input, arguments: { n: context.input.arguments.n + by } } } as never;
  };
  hooks.on('tool.invoked.pre', adding(100) as never);
  hooks.on('tool.invoked.pre', adding(10) as never, { priority: 1 });
  hooks.on('tool.invoked.pre', adding(1000) as never);
  const context = await hooks.phase('pre', { operation: 'tool.invoked', scope, input });
  expect(seen).toEqual([10, 1, 100, 11, 1000, 111]);
  expect(context.input.arguments).toEqual({ n: 1111 });
});

test('HK-3: an executor that returns nothing passes the context through', async () => {
  const hooks = new HookChain();
  hooks.on('tool.invoked.pre', () => {});
  const context = { operation: 'tool.invoked' as const, scope, input };
  expect(await hooks.phase('pre', context)).toBe(context);
});

test('HK-1: pre replaces the input, the body runs on it, post replaces the output', async () => {
  const hooks = new HookChain();
  hooks.on('tool.invoked.pre', (context) => ({ ...context, input: { ...context.input, name: 'app/other' } }));
  hooks.on('tool.invoked.post', (context) => ({
    ...context,
    result: { text: `${context.result?.text}!`, isError: false },
  }));
  const result = await hooks.run('tool.invoked', scope, input, {
    body: (given) => ({ text: given.name, isError: false }),
  });
  expect(result.text).toBe('app/other!');
});

test('HK-3: an "in" executor below 1000 that sets a result replaces the body; one above sees what the body made', async () => {
  const hooks = new HookChain();
  const after: unknown[] = [];
  hooks.on('tool.invoked.in', (context) => void after.push(context.result?.text), { priority: 2000 });
  expect((await hooks.run('tool.invoked', scope, input, { body })).text).toBe('body');
  hooks.on('tool.invoked.in', (context) => ({ ...context, result: { text: 'mine', isError: false } }));
  let ran = 0;
  const counted = () => {
    ran += 1;
    return body();
  };
  expect((await hooks.run('tool.invoked', scope, input, { body: counted })).text).toBe('mine');
  expect(ran).toBe(0);
  expect(after).toEqual(['body', 'mine']);
});

test('HK-4: HookAbort comes out with its reason', async () => {
  const hooks = new HookChain();
  hooks.on('tool.invoked.pre', () => {
    throw new HookAbort('not on Sundays');
  });
  await expect(hooks.run('tool.invoked', scope, input, { body })).rejects.toMatchObject({
    code: 'hook.abort',
    reason: 'not on Sundays',
  });
});

test('HK-11: the result is saved before post, and a saved one runs neither pre nor body again', async () => {
  const hooks = new HookChain();
  const order: string[] = [];
  hooks.on('tool.invoked.pre', () => void order.push('pre'));
  let fails = true;
  hooks.on('tool.invoked.post', () => {
    order.push('post');
    if (fails) throw new Error('post is down');
  });
  let saved: ToolCallOutput | undefined;
  const attempt = () =>
    hooks.run('tool.invoked', scope, input, {
      body: () => {
        order.push('body');
        return body();
      },
      saved,
      save: async (result) => {
        order.push('save');
        saved = result;
      },
    });
  await expect(attempt()).rejects.toThrow('post is down');
  fails = false;
  expect((await attempt()).text).toBe('body');
  expect(order).toEqual(['pre', 'body', 'save', 'post', 'post']);
});

test('a removed executor no longer runs', async () => {
  const hooks = new HookChain();
  const remove = hooks.on('tool.invoked.pre', () => {
    throw new Error('still here');
  });
  expect(hooks.listens('tool.invoked.pre')).toBe(true);
  remove();
  expect(hooks.listens('tool.invoked.pre')).toBe(false);
  expect((await hooks.run('tool.invoked', scope, input, { body })).text).toBe('body');
});

test('HK-8: executors see masked contexts and what they return is masked; passing on keeps what was there', async () => {
  const hooks = new HookChain();
  const redactor = createRedactor(() => ({ version: 1, values: ['swordfish'] }));
  hooks.scrubWith((value) => redactor.redactPlain(value));
  const seen: unknown[] = [];
  const given = { ...input, arguments: { word: 'swordfish' } };
  const run = () =>
    hooks.run('tool.invoked', scope, given, {
      body: ({ arguments: { word } }) => ({ text: `ran with ${String(word)}`, isError: false }),
    });
  hooks.on('tool.invoked.pre', ({ input: shown }) => void seen.push(shown.arguments));
  hooks.on('tool.invoked.in', ({ result }) => void seen.push(result?.text), { priority: 2000 });
  expect(await run()).toMatchObject({ text: 'ran with swordfish' });
  expect(seen).toEqual([{ word: '[redacted]' }, 'ran with [redacted]']);

  hooks.on('tool.invoked.post', (context) => ({
    ...context,
    result: { text: 'it is a swordfish', isError: false },
  }));
  expect(await run()).toMatchObject({ text: 'it is a [redacted]' });
});

test('HK-8: functions, streams and other objects in a context come through as they are', async () => {
  const hooks = new HookChain();
  const redactor = createRedactor(() => ({ version: 1, values: ['swordfish'] }));
  hooks.scrubWith((value) => redactor.redactPlain(value));
  const { signal } = new AbortController();
  const things = { signal, body: new ReadableStream(), run: () => 'swordfish', at: new Date(0) };
  let seen: unknown;
  hooks.on('tool.invoked.pre', (context) => {
    seen = context.input.arguments;
    return context;
  });
  const context = {
    operation: 'tool.invoked' as const,
    scope,
    input: { ...input, arguments: things as never },
  };
  const left = await hooks.phase('pre', context);
  expect(seen).toEqual(things);
  for (const each of [seen, left.input.arguments] as (typeof things)[]) {
    expect(
      Object.entries(things).filter(([name, thing]) => each[name as keyof typeof things] !== thing),
    ).toEqual([]);
  }
});

test('HK-10: where nobody listens nothing is masked', async () => {
  const hooks = new HookChain();
  hooks.scrubWith(() => {
    throw new Error('was called');
  });
  expect((await hooks.run('tool.invoked', scope, input, { body })).text).toBe('body');
});
