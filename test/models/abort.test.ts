import { describe, expect, test } from 'vitest';
import { createAbort, RetryableProviderError } from '../../src/core/base/index.ts';
import { invokeLlm } from '../../src/core/models/index.ts';
import { type ModelReply, startModelServer } from '../../src/testing/index.ts';
import { APIS, collect, llmWith, never, requestOf } from './apis.ts';

describe.each(APIS)('an answer that nobody waits for, over $api', (api) => {
  test('aborting in the middle of an answer rejects with the reason and closes the connection', async () => {
    const hold = Promise.withResolvers<void>();
    await using server = await startModelServer({ replies: [{ text: 'hello', holdFinish: hold.promise }] });
    const cancel = createAbort();
    const reason = new Error('the task was canceled');
    const llm = llmWith(api, { baseUrl: server.url });
    const answer = invokeLlm(llm, requestOf(), cancel.signal, () => cancel.abort(reason));
    await expect(answer).rejects.toBe(reason);
    expect(await server.requests[0]?.closed).toBe(false);
    hold.resolve();
  });

  test('aborting before the endpoint answers rejects with the reason and closes the connection', async () => {
    const cancel = createAbort();
    const reason = new Error('the task was canceled');
    const hold = Promise.withResolvers<ModelReply>();
    await using server = await startModelServer({
      replies: () => {
        cancel.abort(reason);
        return hold.promise;
      },
    });
    const answer = invokeLlm(llmWith(api, { baseUrl: server.url }), requestOf(), cancel.signal);
    await expect(answer).rejects.toBe(reason);
    expect(await server.requests[0]?.closed).toBe(false);
    hold.resolve({});
  });

  test('a signal that is aborted already sends nothing', async () => {
    await using server = await startModelServer({ replies: [] });
    const cancel = createAbort();
    cancel.abort(new Error('never mind'));
    const answer = invokeLlm(llmWith(api, { baseUrl: server.url }), requestOf(), cancel.signal);
    await expect(answer).rejects.toThrow('never mind');
    expect(server.requests).toEqual([]);
  });

  test('a reader that leaves early closes the connection', async () => {
    const hold = Promise.withResolvers<void>();
    await using server = await startModelServer({ replies: [{ text: 'hello', holdFinish: hold.promise }] });
    for await (const event of llmWith(api, { baseUrl: server.url }).stream(requestOf(), never)) {
      expect(event.type).toBe('text');
      break;
    }
    expect(await server.requests[0]?.closed).toBe(false);
    hold.resolve();
  });

  test('MD-9 silence beyond the idle limit ends the request, comment lines or not', async () => {
    const hold = Promise.withResolvers<void>();
    await using server = await startModelServer({
      replies: [{ text: 'too late', hold: hold.promise }],
      habits: { commentLines: 1, commentEveryMs: 5 },
    });
    const llm = llmWith(api, { baseUrl: server.url, idleTimeoutMs: 60 });
    const { error } = await collect(llm.stream(requestOf(), never));
    expect(error).toBeInstanceOf(RetryableProviderError);
    expect((error as Error).message).toContain('was silent for 60 ms');
    expect(await server.requests[0]?.closed).toBe(false);
    hold.resolve();
  });

  test('MD-9 comment lines while the prompt is read are survived', async () => {
    const hold = Promise.withResolvers<void>();
    await using server = await startModelServer({
      replies: [{ text: 'read it all', hold: hold.promise }],
      habits: { commentLines: 50 },
    });
    const answer = invokeLlm(llmWith(api, { baseUrl: server.url }), requestOf(), never);
    hold.resolve();
    expect((await answer).text).toBe('read it all');
  });
});
