import { expect, test } from 'vitest';
import { createAbort, ProviderError } from '../core/base/index.ts';
import { invokeLlm, type LlmRequest } from '../core/models/index.ts';
import { call, reply, ScriptedLlm } from './scripted-llm.ts';

const request: LlmRequest = { instructions: '', input: [{ type: 'user', text: 'hi' }], tools: [] };
const never = createAbort().signal;

test('MD-8 the replies of a list come in order, streamed in pieces, and the requests are kept', async () => {
  const llm = new ScriptedLlm([reply('hello world', { chunkSize: 4 }), call('create_plan', { steps: [] })]);
  const pieces: string[] = [];
  const first = await invokeLlm(llm, request, never, (piece) => pieces.push(piece));
  const second = await invokeLlm(llm, request, never);
  expect(pieces).toEqual(['hell', 'o wo', 'rld']);
  expect(first).toMatchObject({ text: 'hello world', finish: 'stop', calls: [], model: 'scripted' });
  expect(second).toMatchObject({
    finish: 'tool_calls',
    calls: [{ id: 'call_2_1', name: 'create_plan', arguments: '{"steps":[]}' }],
  });
  expect(llm.requests).toEqual([request, request]);
});

test('MD-8 a function sees the request and its number', async () => {
  const llm = new ScriptedLlm((seen, n) => reply(`${n}: ${seen.input.length}`, { usage: { input: 9 } }));
  expect(await invokeLlm(llm, request, never)).toMatchObject({ text: '1: 1', usage: { input: 9 } });
  expect((await invokeLlm(llm, request, never)).text).toBe('2: 1');
});

test('MD-8 a scripted failure comes after the text of its reply', async () => {
  const llm = new ScriptedLlm([reply('so far', { error: new Error('gone') })]);
  const pieces: string[] = [];
  await expect(invokeLlm(llm, request, never, (piece) => pieces.push(piece))).rejects.toThrow('gone');
  expect(pieces).toEqual(['so far']);
});

test('an exhausted script says so and is not worth another try', async () => {
  const answer = invokeLlm(new ScriptedLlm([]), request, never);
  await expect(answer).rejects.toBeInstanceOf(ProviderError);
  await expect(answer).rejects.toThrow(/has 0 replies and this is request 1; add a reply.*"hi"/);
});

test('an abort during a delay rejects with its reason at once', async () => {
  const cancel = createAbort();
  const answer = invokeLlm(new ScriptedLlm([reply('late', { delayMs: 60_000 })]), request, cancel.signal);
  cancel.abort(new Error('canceled'));
  await expect(answer).rejects.toThrow('canceled');
});

test('an abort between two pieces stops the stream', async () => {
  const cancel = createAbort();
  const llm = new ScriptedLlm([reply('abcdef', { chunkSize: 1, chunkDelayMs: 60_000 })]);
  await expect(
    invokeLlm(llm, request, cancel.signal, () => cancel.abort(new Error('enough'))),
  ).rejects.toThrow('enough');
});

test('calls of an answer cut off by length are not emitted', async () => {
  const llm = new ScriptedLlm([call('f', '{"broken', { finish: 'length' })]);
  expect(await invokeLlm(llm, request, never)).toMatchObject({ finish: 'length', calls: [] });
});
