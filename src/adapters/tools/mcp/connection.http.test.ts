import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAbort } from '../../../core/base/index.ts';
import { Secret } from '../../../core/security/index.ts';
import { type ConnectMcpOptions, connectMcpServer } from './connection.ts';
import { startHttpFixture } from './fixtures/http-server.ts';
import { Recorder } from './fixtures/recorder.ts';
import { callTool, temporaryFolder } from './fixtures/stdio-connection.ts';

async function connectHttp(
  settings: Partial<Omit<Parameters<typeof startHttpFixture>[0], 'log'> & ConnectMcpOptions> = {},
) {
  const { driftFile, listing, stateless = false, ...options } = settings;
  const recorder = new Recorder();
  const fixture = await startHttpFixture({ log: recorder.onLog, driftFile, listing, stateless });
  onTestFinished(() => fixture.stop());
  const connection = await connectMcpServer({
    plugin: 'local',
    server: 'web',
    spec: { type: 'http', url: fixture.url, headers: { Authorization: new Secret('Bearer token') } },
    env: {},
    logger: recorder.logger,
    onState: recorder.onState,
    reconnect: { initialMs: 10 },
    ...options,
  });
  onTestFinished(() => connection.close());
  return { connection, fixture, recorder };
}

describe('a server over streamable HTTP', () => {
  it('lists its tools, gets the headers on every request and answers calls', async () => {
    const { connection, fixture } = await connectHttp();
    expect(connection.tools).toHaveLength(12);
    expect(connection.tools[0]?.name).toBe('local/web.announce');
    expect(await callTool(connection, 'echo', { text: 'hello' })).toEqual({ text: 'hello' });
    expect(fixture.requests.every(({ authorization }) => authorization === 'Bearer token')).toBe(true);
  });

  it('returns a result of 30 MB, whole', async () => {
    const { connection } = await connectHttp();
    const begun = performance.now();

    const { text } = await callTool(connection, 'huge');

    expect([text.length, text.replaceAll('ä', '')]).toEqual([15_000_000, '']);
    expect(performance.now() - begun).toBeLessThan(5_000);
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

  it('that never answers keeps a call no longer than its time limit', async () => {
    const { connection } = await connectHttp({ callTimeoutMs: 200 });
    await expect(callTool(connection, 'slow')).rejects.toMatchObject({ code: 'tool.outcome_unknown' });
  });
});

describe('TL-5: a server over HTTP that changes a tool and tells nobody', () => {
  const listings = ({ lines }: Recorder) => lines.filter(({ line }) => line === 'tools listed').length;

  it('is found out before a call, once its listing is old', async () => {
    const driftFile = join(temporaryFolder(), 'drift');
    const { connection } = await connectHttp({ driftFile, stateless: true, listingAgeMs: 0 });
    expect(await callTool(connection, 'echo', { text: 'as ever' })).toEqual({ text: 'as ever' });

    writeFileSync(driftFile, '');

    await expect(callTool(connection, 'echo', { text: '' })).rejects.toMatchObject({
      code: 'tool.schema_changed',
    });
  });

  it('is not asked for each call', async () => {
    const { connection, recorder } = await connectHttp({ stateless: true });
    await Promise.all([callTool(connection, 'fails'), callTool(connection, 'fails')]);
    await callTool(connection, 'fails');
    expect(listings(recorder)).toBe(1);
  });

  it('is asked once for calls at the same moment', async () => {
    const { connection, recorder } = await connectHttp({ stateless: true, listingAgeMs: 0 });
    await Promise.all([callTool(connection, 'fails'), callTool(connection, 'fails')]);
    expect(listings(recorder)).toBe(2);
  });

  it('and does not list any more is called all the same', async () => {
    let listing = Promise.resolve();
    const patience = { listingAgeMs: 0, listTimeoutMs: 100 };
    const { connection } = await connectHttp({ stateless: true, listing: () => listing, ...patience });
    listing = new Promise(() => {});
    expect(await callTool(connection, 'echo', { text: 'on' })).toEqual({ text: 'on' });
  });
});
