import { expect, test } from 'vitest';
import { call, reply } from '../../src/testing/index.ts';
import { messageText, sdkClient, stateOf } from '../support/client.ts';
import { startTestHarness } from '../support/harness.ts';

test('a question parks the task and its answer resumes it, through the official client', async () => {
  const { url } = await startTestHarness([
    call('ask_participant', { participant_id: 'alice', question: 'Which colour?', options: ['red', 'blue'] }),
    reply('Blue it is.'),
  ]);
  const client = await sdkClient(url, 'alice');

  const asked = await client.send({ text: 'Paint the shed' });
  expect(stateOf(asked)).toBe('INPUT_REQUIRED');
  expect(messageText(asked.status?.message)).toBe('Which colour?\nOptions: red, blue');

  const answered = await client.send({ text: 'blue', taskId: asked.id });
  expect(messageText(answered.status?.message)).toBe('Blue it is.');
});
