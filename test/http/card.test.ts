import { AgentCard } from '@a2a-js/sdk';
import { expect, test } from 'vitest';
import { defineCommand } from '../../src/core/commands/index.ts';
import { EXTENSION } from '../../src/core/extensions/index.ts';
import type { HarnessOptions } from '../../src/service/harness/index.ts';
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
    [`${root}/commands/v1`, false],
    [`${root}/progress/v1`, false],
  ]);
});

/** The parameters of an extension on the card of an agent with these commands. */
async function paramsOf(uri: string, options: HarnessOptions = {}) {
  const { url } = await startTestHarness([], options);
  const card = AgentCard.fromJSON(await (await fetch(`${url}${CARD}`)).json());
  return card.capabilities?.extensions.find((extension) => extension.uri === uri)?.params;
}

test('SF-5: the commands stand on the card by name, with these keys and no other', async () => {
  const order = defineCommand({
    name: 'order',
    description: 'Show an order.',
    argumentHint: '<number>',
    argumentSchema: { type: 'string', pattern: '^[0-9]+$' },
    run: (number) => ({ text: `order ${number}` }),
  });
  const { commands } = (await paramsOf(EXTENSION.commands, { commands: [order] })) as {
    commands: Record<string, string>[];
  };
  expect(commands.map(({ name }) => name)).toEqual([
    'approvals',
    'cancel',
    'complete',
    'effort',
    'model',
    'order',
    'status',
    'sub-task',
  ]);
  expect(commands.find(({ name }) => name === 'order')).toEqual({
    name: 'order',
    description: 'Show an order.',
    argument_hint: '<number>',
  });
  for (const command of commands) {
    expect(Object.keys(command).toSorted()).toEqual(['argument_hint', 'description', 'name']);
  }
});

test('SF-5: what clients complete arguments by stands with the progress extension', async () => {
  const { argument_schemas: schemas } = (await paramsOf(EXTENSION.progress)) as {
    argument_schemas: Record<string, unknown>;
  };
  expect(Object.keys(schemas).toSorted()).toEqual(['effort', 'model', 'sub-task']);
  expect(schemas.effort).toEqual({ type: 'string', enum: ['low', 'medium', 'high', 'default'] });
});

test('an agent may do without the built-in commands, or have another in the place of one', async () => {
  const status = defineCommand({ name: 'status', description: 'Mine.', run: () => ({ text: '' }) });
  expect(await paramsOf(EXTENSION.commands, { builtinCommands: false, commands: [status] })).toEqual({
    commands: [{ name: 'status', description: 'Mine.', argument_hint: '' }],
  });
  const { commands } = (await paramsOf(EXTENSION.commands, { commands: [status] })) as {
    commands: unknown[];
  };
  expect(commands).toHaveLength(7);
  expect(commands).toContainEqual({ name: 'status', description: 'Mine.', argument_hint: '' });
});

test('two commands of one name keep an agent from starting', async () => {
  const ping = defineCommand({ name: 'ping', description: '', run: () => ({ text: '' }) });
  await expect(startTestHarness([], { commands: [ping, ping] })).rejects.toMatchObject({
    code: 'plugin.invalid',
  });
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
