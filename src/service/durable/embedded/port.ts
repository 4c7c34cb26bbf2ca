import { connect, createServer } from 'node:net';

/** A port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const port = await bind(0);
  if (port === undefined) throw new Error('127.0.0.1 has no free port');
  return port;
}

/** True when something could listen on the port now. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await bind(port)) !== undefined;
}

/** True when something on 127.0.0.1 accepts a connection on the port. */
export function isPortServed(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ port, host: '127.0.0.1' });
  const answer = (served: boolean): void => {
    socket.destroy();
    resolve(served);
  };
  socket.once('connect', () => answer(true));
  socket.once('error', () => answer(false));
  return promise;
}

function bind(port: number): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const server = createServer();
  server.once('error', () => resolve(undefined));
  server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
    const address = server.address();
    server.close(() => resolve(typeof address === 'object' ? address?.port : undefined));
  });
  return promise;
}
