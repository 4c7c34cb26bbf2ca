import { describe, expect, test } from 'vitest';
import { reply } from '../../src/testing/index.ts';
import { startTestHarness } from '../support/harness.ts';
import { BINDINGS, type Json, type RawOptions, rpc, say, taskFor, taskOf } from './raw.ts';

const alice = { participant: 'alice' };
const bob = { participant: 'bob' };

interface Page {
  readonly tasks: readonly Json[];
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}

describe.each(BINDINGS)('over %s', (binding) => {
  async function list(url: string, params: Json = {}, options: RawOptions = alice): Promise<Page> {
    const { result, error } = await rpc(url, 'ListTasks', params, { ...options, binding });
    if (error) throw new Error(`${error.code}: ${error.message}`);
    return result as unknown as Page;
  }
  const ids = (page: Page) => page.tasks.map(({ id }) => id);

  /** Three tasks of alice, bob watching the first; the newest first. */
  async function three() {
    const { url } = await startTestHarness((_request, number) => reply(`Reply ${number}.`));
    const texts = ['a', 'b', 'c'];
    const tasks: Json[] = [];
    for (const text of texts) {
      const parts = text === 'a' ? [{ text }, taskFor({ bob: 'watcher' })] : [{ text }];
      const contextId = text === 'c' ? 'other' : 'ours';
      tasks.unshift(taskOf(await rpc(url, 'SendMessage', say('', { parts, contextId }), alice)));
    }
    return { url, tasks, named: tasks.map(({ id }) => id) };
  }

  test('nothing is an empty list with all its keys', async () => {
    const { url } = await startTestHarness([]);
    expect(await list(url)).toEqual({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 });
  });

  test('the newest status comes first, and a page leads to the next', async () => {
    const { url, named } = await three();
    expect(ids(await list(url))).toEqual(named);
    const first = await list(url, { pageSize: 2 });
    expect(first).toMatchObject({ pageSize: 2, totalSize: 3, nextPageToken: expect.stringMatching(/./) });
    const second = await list(url, { pageSize: 2, pageToken: first.nextPageToken });
    expect([...ids(first), ...ids(second)]).toEqual(named);
    expect(second).toMatchObject({ totalSize: 3, nextPageToken: '' });

    await rpc(url, 'SendMessage', say('More', { taskId: named[2] }), alice);
    expect(ids(await list(url))).toEqual([named[2], named[0], named[1]]);
  });

  test("a caller sees the tasks they are on, and nobody else's", async () => {
    const { url, named } = await three();
    expect(ids(await list(url, {}, bob))).toEqual([named[2]]);
    expect(await list(url, {}, { participant: 'mallory' })).toMatchObject({ tasks: [], totalSize: 0 });
  });

  test('filters are by context, by state and by time', async () => {
    const { url, tasks, named } = await three();
    await rpc(url, 'CancelTask', { id: named[1] }, alice);
    const at = (tasks[0]?.status as Json | undefined)?.timestamp;
    expect(ids(await list(url, { contextId: 'other' }))).toEqual([named[0]]);
    expect(ids(await list(url, { status: 'TASK_STATE_CANCELED' }))).toEqual([named[1]]);
    expect(ids(await list(url, { status: 'TASK_STATE_UNSPECIFIED' }))).toHaveLength(3);
    expect(ids(await list(url, { statusTimestampAfter: at }))).toEqual([named[1], named[0]]);
    expect(ids(await list(url, { statusTimestampAfter: '2999-01-01T00:00:00+02:00' }))).toEqual([]);
    const both = { contextId: 'ours', status: 'TASK_STATE_INPUT_REQUIRED' };
    expect(await list(url, both)).toMatchObject({ totalSize: 1, tasks: [{ id: named[2] }] });
  });

  test('a task is shown as GetTask does, with as much history and as many artifacts as asked for', async () => {
    const { url, named } = await three();
    const [id] = named;
    const whole = taskOf(await rpc(url, 'GetTask', { id, historyLength: 1 }, alice));
    const one = { pageSize: 1, historyLength: 1, includeArtifacts: true };
    expect((await list(url, one)).tasks).toEqual([whole]);
    const bare = (await list(url, { pageSize: 1 })).tasks[0];
    expect(Object.keys(bare ?? {})).not.toContain('artifacts');
    expect(bare).toMatchObject({ id, status: whole.status, metadata: whole.metadata });
    expect(bare?.history ?? []).toEqual([]);
    const empty = { pageSize: 1, historyLength: 1, includeArtifacts: true, contextId: 'none' };
    expect((await list(url, empty)).tasks).toEqual([]);
  });

  test('parameters of a wrong shape are refused, naming the field', async () => {
    const { url } = await three();
    const { nextPageToken } = await list(url, { pageSize: 1 });
    for (const [params, field, who] of [
      [{ pageSize: 0 }, 'pageSize'],
      [{ pageSize: 101 }, 'pageSize'],
      [{ pageSize: -1 }, 'pageSize'],
      [{ pageSize: 1.5 }, 'pageSize'],
      [{ pageSize: 'many' }, 'pageSize'],
      [{ historyLength: -1 }, 'historyLength'],
      [{ status: 'TASK_STATE_BORED' }, 'status'],
      [{ status: 99 }, 'status'],
      [{ statusTimestampAfter: 'yesterday' }, 'statusTimestampAfter'],
      [{ includeArtifacts: 'yes' }, 'includeArtifacts'],
      [{ pageToken: 'nonsense' }, 'pageToken'],
      [{ pageToken: Buffer.from('["a","b","c"]').toString('base64url') }, 'pageToken'],
      [{ pageToken: nextPageToken, contextId: 'ours' }, 'pageToken'],
      [{ pageToken: nextPageToken }, 'pageToken', bob],
    ] as const) {
      const { error } = await rpc(url, 'ListTasks', params, { ...(who ?? alice), binding });
      const what = JSON.stringify(params);
      expect.soft(error?.code, what).toBe(-32602);
      expect.soft(error?.data[1], what).toMatchObject({ fieldViolations: [{ field }] });
    }
    expect(await list(url, { pageSize: 100 })).toMatchObject({ pageSize: 100, totalSize: 3 });
    expect(await list(url, { pageSize: 3, pageToken: nextPageToken })).toMatchObject({ totalSize: 3 });
  });
});
