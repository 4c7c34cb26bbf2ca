import { expect } from 'vitest';
import { z } from 'zod';
import { RetryableProviderError } from '../../src/core/base/index.ts';
import { defineTool } from '../../src/core/tools/index.ts';
import { call, reply, type Script } from '../../src/testing/index.ts';
import { sdkClient, stateOf, type TestClient } from '../support/client.ts';
import { startTestHarness, type TestHarness } from '../support/harness.ts';

/** One behaviour of a task's workflow: what happens, and the id of the task it happens to. */
export interface Scenario {
  readonly name: string;
  run(): Promise<{ readonly harness: TestHarness; readonly taskId: string }>;
}

const look = defineTool({
  name: 'test/look',
  description: 'Looks.',
  input: z.object({ at: z.string() }),
  annotations: { readOnlyHint: true },
  run: ({ at }) => `saw ${at}`,
});

const write = defineTool({
  name: 'test/write',
  description: 'Writes.',
  input: z.object({ text: z.string() }),
  run: ({ text }) => `wrote ${text}`,
});

async function started(script: Script, settings = {}): Promise<{ harness: TestHarness; alice: TestClient }> {
  const harness = await startTestHarness(script, { tools: [look, write], settings });
  return { harness, alice: await sdkClient(harness.url, 'alice') };
}

/** Every behaviour whose history is recorded (DU-12). */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'single-reply',
    async run() {
      const { harness, alice } = await started([reply('done')]);
      const task = await alice.send({ text: 'go', metadata: { conversation: 'single' } });
      expect(stateOf(task)).toBe('COMPLETED');
      return { harness, taskId: task.id };
    },
  },
  {
    name: 'tool-batch',
    async run() {
      const calls = [
        { name: 'test/look', arguments: { at: 'a' } },
        { name: 'test/look', arguments: { at: 'b' } },
        { name: 'test/write', arguments: { text: 'c' } },
        { name: 'test/nothing', arguments: {} },
      ];
      const { harness, alice } = await started([{ calls }, reply('done')]);
      const task = await alice.send({ text: 'go', metadata: { conversation: 'single' } });
      expect(stateOf(task)).toBe('COMPLETED');
      return { harness, taskId: task.id };
    },
  },
  {
    name: 'question-and-answer',
    async run() {
      const { harness, alice } = await started([
        call('ask_participant', { participant_id: 'alice', question: 'Which?' }),
        reply('thanks'),
      ]);
      const asked = await alice.send({ text: 'go' });
      const answered = await alice.send({ text: 'this', taskId: asked.id });
      expect(stateOf(answered)).toBe('INPUT_REQUIRED');
      await alice.sdk.cancelTask({ id: asked.id, tenant: '', metadata: undefined });
      return { harness, taskId: asked.id };
    },
  },
  {
    name: 'cancel-in-model-call',
    async run() {
      const { harness, alice } = await started([reply('late', { delayMs: 60_000 })]);
      const task = await alice.send({ text: 'go', returnImmediately: true });
      for await (const event of alice.sdk.resubscribeTask({ id: task.id, tenant: '' })) {
        if (event.payload?.$case === 'task' && stateOf(event.payload.value) === 'WORKING') break;
        if (event.payload?.$case === 'statusUpdate' && stateOf(event.payload.value) === 'WORKING') break;
      }
      const canceled = await alice.sdk.cancelTask({ id: task.id, tenant: '', metadata: undefined });
      expect(stateOf(canceled)).toBe('CANCELED');
      return { harness, taskId: task.id };
    },
  },
  {
    name: 'failed-attempt-then-reply',
    async run() {
      const error = new RetryableProviderError('busy', { status: 429, retryAfterMs: 10 });
      const { harness, alice } = await started([{ error }, reply('done')]);
      const task = await alice.send({ text: 'go', metadata: { conversation: 'single' } });
      expect(stateOf(task)).toBe('COMPLETED');
      return { harness, taskId: task.id };
    },
  },
  {
    name: 'approval-and-command',
    async run() {
      const settings = { approvals: { rules: [{ tool: 'test/write', decision: 'ask' }], deadline: '1h' } };
      const { harness, alice } = await started(
        [call('test/write', { text: 'c' }), reply('thanks'), reply('thanks')],
        settings,
      );
      const asked = await alice.send({ text: 'go' });
      await alice.send({ text: '/status', taskId: asked.id });
      await alice.send({ text: 'approve', taskId: asked.id });
      await alice.sdk.cancelTask({ id: asked.id, tenant: '', metadata: undefined });
      return { harness, taskId: asked.id };
    },
  },
  {
    name: 'sub-task-that-asks',
    async run() {
      const script = [
        call('spawn_subtask', { name: 'Part', goal: 'Do the part' }),
        reply('waiting'),
        call('ask_participant', { participant_id: 'alice', question: 'Which?' }),
        reply('the part'),
        reply('done'),
      ];
      // The parent's second turn and the sub-task's first one come at the same time.
      const { harness, alice } = await started(({ input }) => {
        const [part, whole] = [script.slice(2, 4), [...script.slice(0, 2), ...script.slice(4)]];
        const said = input.filter((item) => item.type === 'assistant').length;
        const first = input[0]?.type === 'user' ? input[0].text : '';
        return (first.includes('goal: Do the part') ? part : whole)[said] ?? reply('nothing left');
      });
      const asked = await alice.send({ text: 'go', metadata: { conversation: 'single' } });
      expect(stateOf(asked)).toBe('INPUT_REQUIRED');
      const done = await alice.send({ text: 'this', taskId: asked.id });
      expect(stateOf(done)).toBe('COMPLETED');
      return { harness, taskId: asked.id };
    },
  },
  {
    name: 'carried-over',
    async run() {
      const { harness, alice } = await started(() => reply('yes'), { context: { history_event_bound: 30 } });
      const first = await alice.send({ text: 'one' });
      for (const text of ['two', 'three', 'four']) await alice.send({ text, taskId: first.id });
      await alice.sdk.cancelTask({ id: first.id, tenant: '', metadata: undefined });
      return { harness, taskId: first.id };
    },
  },
];
