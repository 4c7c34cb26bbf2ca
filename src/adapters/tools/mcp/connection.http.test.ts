import { describe, expect, it, onTestFinished } from 'vitest';
import { createAbort } from '../../../core/base/index.ts';
import { Secret } from '../../../core/security/index.ts';
import { connectMcpServer } from './connection.ts';
import { startHttpFixture } from './fixtures/http-server.ts';
import { Recorder } from './fixtures/recorder.ts';
import { callTool } from './fixtures/stdio-connection.ts';

async function connectHttp() {
  const recorder = new Recorder();
  const fixture = await startHttpFixture({ log: recorder.onLog });
  onTestFinished(() => fixture.stop());
  const connection = await connectMcpServer({
    plugin: 'local',
    server: 'web',
    spec: { type: 'http', url: fixture.url, headers: { Authorization: new Secret('Bearer token') } },
    env: {},
    logger: recorder.logger,
    onState: recorder.onState,
    reconnect: { initialMs: 10 },
  });
  onTestFinished(() => connection.close());
  return { connection, fixture, recorder };
}

describe('a server over streamable HTTP', () => {
  it('lists its tools, gets the headers on every request and answers calls', async () => {
    const { connection, fixture } = await connectHttp();
    expect(connection.tools).toHaveLength(11);
    expect(connection.tools[0]?.name).toBe('local/web.announce');
    expect(await callTool(connection, 'echo', { text: 'hello' })).toEqual({ text: 'hello' });
    expect(fixture.requests.every(({ authorization }) => authorization === 'Bearer token')).toBe(true);
  });

  it('hears that a call is canceled', async () => {
    const { connection, recorder } = await connectHttp();
    const abort = createAbort();
    const call = callTool(connection, 'slow', {}, abort.signal);
    await recorder.saw('slow started');
    abort.abort('enough');
    await expect(call).rejects.toMatchObject({ code: 'tool.failed' });
    await recorder.saw('slow canceled');
  });

  it('that hangs up in the middle of a call does not leave it waiting', async () => {
    const { connection } = await connectHttp();
    await expect(callTool(connection, 'die')).rejects.toMatchObject({ code: 'tool.outcome_unknown' });
    await expect(callTool(connection, 'die_reading')).rejects.toMatchObject({ code: 'tool.unavailable' });
    expect(await callTool(connection, 'echo', { text: 'on' })).toEqual({ text: 'on' });
  });

  it('that is gone answers with an error at once, and is found again when it is back', async () => {
    const { connection, fixture, recorder } = await connectHttp();
    await fixture.stop();
    const started = performance.now();
    const reading = callTool(connection, 'echo', { text: '' });
    await expect(reading).rejects.toMatchObject({ code: 'tool.unavailable' });
    await expect(callTool(connection, 'fails')).rejects.toMatchObject({ code: 'tool.unavailable' });
    expect(performance.now() - started).toBeLessThan(1000);
    const again = await startHttpFixture({ log: recorder.onLog }, Number(new URL(fixture.url).port));
    onTestFinished(() => again.stop());
    await recorder.saw('ready');
    expect(await callTool(connection, 'echo', { text: 'back' })).toEqual({ text: 'back' });
  });

  it('that forgot the session is connected to again', async () => {
    const { connection, fixture, recorder } = await connectHttp();
    await fixture.stop();
    const again = await startHttpFixture({ log: recorder.onLog }, Number(new URL(fixture.url).port));
    onTestFinished(() => again.stop());
    await callTool(connection, 'echo', { text: 'lost' }).catch(() => {});
    await recorder.saw('ready');
    expect(await callTool(connection, 'echo', { text: 'back' })).toEqual({ text: 'back' });
  });
});
