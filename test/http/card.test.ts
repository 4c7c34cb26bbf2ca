import { AgentCard } from '@a2a-js/sdk';
import { expect, test } from 'vitest';
import { sdkClient } from '../support/client.ts';
import { startTestHarness } from '../support/harness.ts';
import { answerOf, BINDINGS, get, post, rpc } from './raw.ts';

const CARD = '.well-known/agent-card.json';

test('the card of the default agent is this, byte for byte', async () => {
  const { url } = await startTestHarness([], {
    agentId: 'tiny-harness',
    settings: { server: { base_url: 'https://agents.example.com/tiny' } },
  });
  const response = await fetch(`${url}tiny/${CARD}`);
  expect(response.headers.get('content-type')).toBe('application/json');
  await expect(await response.text()).toMatchFileSnapshot('snapshots/agent-card.txt');
});

test('a card is not sent again to who has it', async () => {
  const { url } = await startTestHarness([]);
  const first = await fetch(`${url}${CARD}`);
  const etag = first.headers.get('etag') ?? '';
  expect(etag).toMatch(/^".+"$/);
  expect(first.headers.get('cache-control')).toMatch(/max-age=\d+/);

  for (const known of [etag, `W/${etag}`, `"old", ${etag}`, '*']) {
    const again = await fetch(`${url}${CARD}`, { headers: { 'if-none-match': known } });
    expect.soft(again.status, known).toBe(304);
    expect.soft(await again.text()).toBe('');
  }
  const other = await fetch(`${url}${CARD}`, { headers: { 'if-none-match': '"old"' } });
  expect(other.status).toBe(200);
  const head = await fetch(`${url}${CARD}`, { method: 'HEAD' });
  expect(head.headers.get('etag')).toBe(etag);
});

test('the extensions stand in their order, and none is required', async () => {
  const { url } = await startTestHarness([]);
  const card = AgentCard.fromJSON(await (await fetch(`${url}${CARD}`)).json());
  const root = 'https://madarauchiha-314.github.io/tiny-harness/a2a/ext';
  expect(card.capabilities?.extensions.map(({ uri, required }) => [uri, required])).toEqual([
    [`${root}/task/v1`, false],
    [`${root}/channel/v1`, false],
    [`${root}/status/v1`, false],
    [`${root}/progress/v1`, false],
  ]);
});

test('the card leads the official client to the agent, and names no interface that does not answer', async () => {
  const { url } = await startTestHarness([]);
  const client = await sdkClient(url, 'alice');
  const card = await client.sdk.getAgentCard();
  expect(card.supportedInterfaces).toEqual([
    { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: url.slice(0, -1), protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  ]);
  for (const { url: address, protocolBinding } of card.supportedInterfaces) {
    const binding = BINDINGS.find((each) => each === protocolBinding) ?? 'JSONRPC';
    const answer = await rpc(address, 'GetTask', { id: 'none' }, { participant: 'alice', binding });
    expect(answer.error?.code).toBe(-32001);
  }
});

test('what the card does not claim says that it is not supported', async () => {
  const { url } = await startTestHarness([]);
  const alice = { participant: 'alice' };
  const push = await rpc(url, 'CreateTaskPushNotificationConfig', { taskId: 'x', url: 'https://a' }, alice);
  expect(push.error).toMatchObject({ code: -32003, data: [{ reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED' }] });
  const configs = `${url}tasks/x/pushNotificationConfigs`;
  for (const response of [
    await post(configs, '{"url":"https://a"}', alice),
    await get(configs, alice),
    await get(`${configs}/1`, alice),
    await fetch(`${configs}/1`, { method: 'DELETE', headers: { 'a2a-version': '1.0' } }),
  ]) {
    expect((await answerOf(response)).error?.code, response.url).toBe(-32003);
  }
  for (const binding of BINDINGS) {
    const { error } = await rpc(url, 'GetExtendedAgentCard', {}, { ...alice, binding });
    expect(error, binding).toMatchObject({ code: -32004 });
  }
});

test('the endpoint answers with and without its slash, and says what it is to a browser', async () => {
  const { url } = await startTestHarness([], { settings: { server: { base_url: 'http://x.example/a' } } });
  const ask = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'none' } });
  for (const path of ['a', 'a/', '/a//']) {
    const response = await post(`${url}${path}`, ask, { participant: 'alice' });
    expect(await response.json(), path).toMatchObject({ error: { code: -32001 } });
  }
  const page = await fetch(`${url}a`);
  expect([page.status, page.headers.get('allow')]).toEqual([405, 'POST']);
  const nowhere = await fetch(`${url}b`);
  expect([nowhere.status, await nowhere.json()]).toEqual([404, { error: 'there is nothing at /b' }]);
});
