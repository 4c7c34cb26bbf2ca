import { expect, test } from 'vitest';
import { reply } from '../../src/testing/index.ts';
import { startTestHarness } from '../support/harness.ts';
import { pythonWithClient, runPython } from './python.ts';

test('the official Python client talks to a harness over both bindings', {
  timeout: 180_000,
}, async (context) => {
  const found = await pythonWithClient();
  if ('missing' in found) return context.skip(found.missing);
  const { url } = await startTestHarness((_request, number) => reply(`Reply ${number}.`), {
    settings: { card: { name: 'Painter' } },
  });
  for (const [at, binding] of ['JSONRPC', 'HTTP+JSON'].entries()) {
    // Three replies for each.
    const reply1 = `Reply ${at * 3 + 1}.`;
    const reply2 = `Reply ${at * 3 + 2}.`;
    const following = ['status_update:WORKING', 'artifact:response:2', 'status_update:INPUT_REQUIRED'];
    expect(await runPython(found.python, 'python_client.py', url, binding), binding).toEqual({
      card: 'Painter',
      bindings: ['JSONRPC', 'HTTP+JSON'],
      send: ['task:INPUT_REQUIRED', reply1, 2],
      subscribe: ['task:INPUT_REQUIRED', ...following, 'status_update:CANCELED'],
      stream: ['task:INPUT_REQUIRED', ...following],
      get: [true, 'INPUT_REQUIRED', reply2, 1],
      list: [1, 5, '', [[true, 2, 2]]],
      cancel: 'CANCELED',
      unknown: 'TaskNotFoundError',
      'cancel again': 'TaskNotCancelableError',
    });
  }
});
