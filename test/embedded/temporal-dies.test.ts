/** EM-7: the embedded Temporal dies by itself while the harness lives. */
import { createServer, type Server } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ModelReply } from '../../src/testing/index.ts';
import { place, serve, temporalOf } from './serving.ts';

/** A model that is held at its answer, so that something can happen meanwhile. */
function heldModel() {
  const asked = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const replies = (): ModelReply => {
    asked.resolve();
    return { text: 'Still here.', hold: held.promise };
  };
  return { asked: asked.promise, release: () => held.resolve(), replies };
}

describe('a task goes on by itself', { timeout: 90_000 }, () => {
  it.each(['server', 'supervisor'] as const)('when the %s of Temporal is killed', async (which) => {
    const { asked, release, replies } = heldModel();
    const at = await place(replies);
    const { served, send } = await serve(at);
    const sending = send('hello');
    await asked;
    const before = temporalOf(at);

    process.kill(before[which], 'SIGKILL');
    await served.until(/the embedded Temporal server ended by itself; it is started again/);
    await served.until(/the embedded Temporal server is back/);
    release();

    expect(await sending.ended, sending.output + served.output).toBe(0);
    expect(sending.stdout).toBe('Still here.\n');
    const after = temporalOf(at);
    expect(after.port).toBe(before.port);
    expect(after.server).not.toBe(before.server);
    served.child.kill('SIGTERM');
    expect(await served.ended).toBe(0);
  });

  it('and meanwhile the harness says that Temporal is away, to the probe and to whoever sends', async () => {
    const { asked, release, replies } = heldModel();
    const at = await place(replies);
    const { served, send, url } = await serve(at);
    const sending = send('hello');
    await asked;
    const { server, port } = temporalOf(at);

    process.kill(server, 'SIGKILL');
    const squatter = await squat(port);
    await served.until(
      /port \d+ on 127\.0\.0\.1 is taken.*the embedded Temporal server does not come back yet/,
    );
    const begun = performance.now();
    const [ready, refused] = await Promise.all([fetch(new URL('readyz', url)), post(url, 'more')]);
    const seconds = (performance.now() - begun) / 1000;

    expect(ready.status).toBe(503);
    expect(await ready.text()).toContain('temporal');
    expect(refused.status).toBe(503);
    const { error } = (await refused.json()) as { error: { message: string; details: unknown[] } };
    expect(error.message).toMatch(/^Temporal did not answer for task .* Send the message again/);
    expect(error.details).toContainEqual(expect.objectContaining({ reason: 'temporal_unavailable' }));
    expect(seconds).toBeLessThan(4); // 2.5 by design, and 20 without it.
    squatter.close();
    await served.until(/the embedded Temporal server is back/);
    release();
    expect(await sending.ended, sending.output + served.output).toBe(0);
    expect((await fetch(new URL('readyz', url))).status).toBe(200);
  });
});

/** Sends a message over HTTP+JSON. */
function post(url: string, text: string): Promise<Response> {
  return fetch(new URL('./message:send', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-participant-id': 'ada' },
    body: JSON.stringify({ message: { messageId: text, role: 'ROLE_USER', parts: [{ text }] } }),
  });
}

/** Takes a port as soon as it is free, and answers nothing there. */
async function squat(port: number): Promise<Server> {
  for (;;) {
    const server = createServer((socket) => socket.destroy());
    const taken = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!taken) continue;
    onTestFinished(() => void server.close());
    return server;
  }
}
