import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { toNodeHandler } from './node.ts';

/** Serves what a request is; returns the answer to one written by hand. */
async function serve() {
  const errors: unknown[] = [];
  const handler = toNodeHandler(
    async (request, { peer }) => Response.json({ url: request.url, method: request.method, peer }),
    { onError: (error) => errors.push(error) },
  );
  const server = createServer({ requireHostHeader: false }, handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return {
    errors,
    async ask(head: string): Promise<{ status: number; body: Record<string, unknown> }> {
      const socket = connect(port, '127.0.0.1');
      socket.write(`${head}\r\nconnection: close\r\n\r\n`);
      const answer = await text(socket);
      const body = answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1);
      return { status: Number(answer.split(' ')[1]), body: body === '' ? {} : JSON.parse(body) };
    },
  };
}

test.each([
  ['a host that is none', 'GET / HTTP/1.1\r\nhost: a b'],
  ['an empty port that is none', 'GET / HTTP/1.1\r\nhost: a:port'],
  ['brackets that do not close', 'GET / HTTP/1.1\r\nhost: [::1'],
  ['a host with a path', 'GET / HTTP/1.1\r\nhost: a/b'],
  ['a host with a user', 'GET / HTTP/1.1\r\nhost: me:pw@a'],
  ['an address with a user', 'GET http://me:pw@a/ HTTP/1.1\r\nhost: a'],
  ['an address that is none', 'GET http://[/ HTTP/1.1\r\nhost: a'],
  ['an asterisk', 'OPTIONS * HTTP/1.1\r\nhost: a'],
  ['a method that the web has not', 'TRACE / HTTP/1.1\r\nhost: a'],
])('%s is a bad request, and no fault of the server', async (_what, head) => {
  const { ask, errors } = await serve();
  expect(await ask(head)).toEqual({
    status: 400,
    body: { error: 'the address or the method of this request is malformed' },
  });
  expect(errors).toEqual([]);
});

test('a request comes with its address and the address it came from', async () => {
  const { ask } = await serve();
  const { body } = await ask('GET //a//b?c=1 HTTP/1.1\r\nhost: example.com:81');
  expect(body).toEqual({ url: 'http://example.com:81//a//b?c=1', method: 'GET', peer: '127.0.0.1' });
  expect((await ask('GET http://example.com/x HTTP/1.1\r\nhost: a')).body.url).toBe('http://example.com/x');
  expect((await ask('GET /x HTTP/1.0')).body.url).toBe('http://localhost/x');
});
