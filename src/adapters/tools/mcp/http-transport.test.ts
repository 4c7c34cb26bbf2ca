import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AnswerLostError, createHttpTransport, withAnswerWatch } from './http-transport.ts';

const ANSWER = 'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n';

/** Sends one request to a server that answers it as told; resolves with the answer. */
async function request(answer: RequestListener): Promise<unknown> {
  const http = createServer(answer);
  const listening = Promise.withResolvers<void>();
  http.listen(0, '127.0.0.1', listening.resolve);
  await listening.promise;
  onTestFinished(() => void http.close());
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/`;
  const transport = createHttpTransport(url, {});
  onTestFinished(() => transport.close());
  const answered = Promise.withResolvers<unknown>();
  transport.onmessage = answered.resolve;
  await transport.start();
  return withAnswerWatch(new AbortController().signal, async () => {
    await transport.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} });
    return answered.promise;
  });
}

describe('withAnswerWatch', () => {
  it('lets an answer through that is the last thing on its stream', async () => {
    const answer = request((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(ANSWER);
    });
    expect(await answer).toMatchObject({ id: 1 });
  });

  it('gives up when the stream ends without the answer', async () => {
    const answer = request((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing\n\n');
    });
    await expect(answer).rejects.toBeInstanceOf(AnswerLostError);
  });

  it('waits for a stream that can be resumed', async () => {
    const answer = request((incoming, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (incoming.method === 'POST') response.end('id: 7\nretry: 1\ndata:\n\n');
      else response.end(incoming.headers['last-event-id'] === '7' ? ANSWER : '');
    });
    expect(await answer).toMatchObject({ id: 1 });
  });

  it('gives up when resuming fails as often as it is tried', async () => {
    const resumed: string[] = [];
    const answer = request((incoming, response) => {
      if (incoming.method === 'POST') {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: 7\nretry: 1\ndata:\n\n');
      } else {
        resumed.push(String(incoming.headers['last-event-id']));
        response.writeHead(500).end();
      }
    });
    await expect(answer).rejects.toBeInstanceOf(AnswerLostError);
    expect(resumed).toEqual(['7', '7']);
  });
});
