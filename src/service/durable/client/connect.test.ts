import { expect, it } from 'vitest';
import { connectClient } from './connect.ts';
import { startGrpcServer } from './fixtures/grpc-server.ts';

it('a connection that is closed while a call waits for its next attempt throws nothing later', async () => {
  const server = await startGrpcServer();
  const { connection, close } = await connectClient({ address: server.address });
  await server.stop();
  const calls = Array.from({ length: 20 }, () =>
    connection.workflowService.getSystemInfo({}).catch((error: unknown) => error),
  );
  await new Promise((resolve) => setTimeout(resolve, 50)); // The first attempts have failed.

  await close();

  // A timer that throws later fails the run: vitest reports it.
  expect(await Promise.all(calls)).toEqual(calls.map(() => expect.any(Error)));
});
