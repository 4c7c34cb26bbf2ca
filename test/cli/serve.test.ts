import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/core/base/index.ts';
import { type ModelReply, startModelServer } from '../../src/testing/index.ts';
import { testFolder } from '../support/harness.ts';
import { freePort, linesOf, type Run, run, start } from './program.ts';

type Replies = Parameters<typeof startModelServer>[0]['replies'];

/** A folder with a configuration for a model server of the test's own. */
async function setUp(
  replies: Replies,
  options: { readonly conversation?: string; readonly bind?: string; readonly top?: string } = {},
) {
  const model = await startModelServer({ replies });
  onTestFinished(() => model.close());
  const folder = testFolder();
  const config = join(folder, 'my.toml');
  writeFileSync(
    config,
    [
      options.top ?? '',
      `[agent]\nid = "cli-${randomUUID().slice(0, 8)}"\nconversation = "${options.conversation ?? 'single'}"`,
      `[openai]\nbase_url = "${model.url}"\nmodel = "local-model"`,
      `[temporal]\naddress = "${inject('temporal')}"\nnamespace = "default"\nheartbeat_timeout = "2s"`,
      `[store]\nsqlite_path = "${join(folder, 'store.db')}"`,
      `[server]\nbind = "${options.bind ?? '127.0.0.1:0'}"`,
    ].join('\n'),
  );
  return { model, folder, config };
}

async function serve(config: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const served = start(['serve', '--with-worker', '--config', config, ...args], { env });
  const [line, url = ''] = await served.until(/^ready: agent \S+ at (\S+) .*$/m);
  const send = (text: string, ...more: string[]) =>
    run(['send', text, '--url', url, '--participant', 'ada', ...more], { env });
  return { served, line, url, send };
}

/** The tool of a request whose name ends so, as this provider spells it. */
function toolName(body: JsonObject, end: string): string {
  const tools = body.tools as { function: { name: string } }[];
  return tools.map((tool) => tool.function.name).find((name) => name.endsWith(end)) ?? `no tool ${end}`;
}

async function stopped(served: Run, signal: NodeJS.Signals): Promise<number | string> {
  served.child.kill(signal);
  return served.ended;
}

describe('serve and send', { timeout: 60_000 }, () => {
  it('complete a task with an own endpoint, an own mcp.json and own tools in code', async () => {
    const steps: ((body: JsonObject) => ModelReply)[] = [
      (body) => ({
        calls: [
          { name: toolName(body, 'find_order'), arguments: { order: 1042 } },
          { name: toolName(body, 'add'), arguments: { a: 40, b: 2 } },
        ],
      }),
      () => ({ text: 'The lamp costs 89 EUR, and the sum is 42.' }),
    ];
    const { model, folder, config } = await setUp(
      (body, number) => (steps[number - 1] ?? (() => ({ text: '?' })))(body),
      {
        top: 'mcp_config = "mcp.json"',
      },
    );
    const orders = fileURLToPath(new URL('../../src/demo/servers/orders.ts', import.meta.url));
    const server = { command: process.execPath, args: [orders] };
    writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { shop: server } }));
    writeFileSync(
      join(folder, 'tools.mjs'),
      `import { defineTool } from '${new URL('../../dist/exports/index.js', import.meta.url)}';
       import { z } from '${import.meta.resolve('zod')}';
       export default {
         tools: [defineTool({
           name: 'add', description: 'Adds.', input: z.object({ a: z.number(), b: z.number() }),
           annotations: { readOnlyHint: true }, run: ({ a, b }) => String(a + b),
         })],
         hooks: (chain) => chain.on('tool.invoked.pre', (context) => { console.error('hook saw ' + context.input.name); return context; }),
       };`,
    );
    const served = start(['serve', '--with-worker', '--config', config, '--tools', 'tools.mjs'], {
      cwd: folder,
    });
    const [line, url = ''] = await served.until(/^ready: agent \S+ at (\S+) .*$/m);
    const sent = await run(['send', 'How much is order 1042?', '--url', url, '--participant', 'ada']);

    expect(line).toContain(`model local-model at ${new URL(model.url).origin}  3 tools`);
    expect(sent.stdout).toBe('The lamp costs 89 EUR, and the sum is 42.\n');
    expect(sent.stderr).toMatch(
      /> local\/shop\.find_order[\s\S]*< local\/shop\.find_order[\s\S]* is COMPLETED/,
    );
    expect(sent.code).toBe(0);
    expect(served.stderr).toContain('hook saw app/add');
    const results = JSON.stringify(model.requests[1]?.body.messages);
    expect(results).toContain('LAMP-7');
    expect(results).toContain('42');
    expect(await stopped(served, 'SIGTERM')).toBe(0);
  });

  it('carry questions to a person and answers back', async () => {
    const { config, model } = await setUp(
      (body, number): ModelReply =>
        number === 1
          ? {
              calls: ['Which colour?', 'Which size?'].map((question) => ({
                name: toolName(body, 'ask_participant'),
                arguments: { participant_id: 'ada', question, options: [] },
              })),
            }
          : { text: `Answer ${number}.` },
      { conversation: 'open' },
    );
    const { served, send } = await serve(config);

    const asked = await send('Paint the shed', '--json');
    const events = linesOf(asked.stdout).map((line) => JSON.parse(line) as JsonObject);
    const end = events.at(-1) as { kind: string; taskId: string; questions: { id: string; text: string }[] };
    expect(asked.code).toBe(0);
    expect(asked.stderr).toBe('');
    expect(end).toMatchObject({ kind: 'end', state: 'INPUT_REQUIRED', subState: 'awaiting-answer' });
    expect(end.questions.map(({ text }) => text)).toEqual(['Which colour?', 'Which size?']);

    const size = end.questions[1]?.id ?? '';
    const answered = await send('large', '--task', end.taskId, '--reply-to', size);
    expect(answered.stdout).toBe('Answer 2.\n');
    expect(answered.stderr).toContain('is INPUT_REQUIRED (awaiting-answer)');
    expect(answered.stderr).toContain(`--task ${end.taskId} "answer"`);
    expect(JSON.stringify(model.requests[1]?.body.messages)).toContain(
      'in answer to the question \\"Which size?\\"',
    );
    expect(await stopped(served, 'SIGINT')).toBe(130);
  });

  it('show no key that the endpoint echoes in an error', async () => {
    const key = `marker-${randomUUID()}`;
    const { config, model } = await setUp([
      { fault: 'status', status: 401, body: { error: { message: `bad key ${key}`, key } } },
    ]);
    const { served, send } = await serve(config, ['--debug'], { OPENAI_API_KEY: key });

    const failed = await send('hello');

    expect(model.requests[0]?.headers.authorization).toBe(`Bearer ${key}`);
    expect([failed.code, failed.stdout]).toEqual([1, '']);
    expect(failed.stderr).toMatch(/^! The agent could not go on: .*bad key \[(redacted|secret)\]/m);
    expect(failed.stderr).toMatch(/ is FAILED$/m);
    await stopped(served, 'SIGTERM');
    expect(failed.output + served.output).not.toContain(key);
  });

  // Text is not redacted while it is streamed, its kept form is.
  it('show no key that the model says', async () => {
    const key = `marker-${randomUUID()}`;
    const { config } = await setUp([{ text: `I was given the key ${key} and will not keep it.` }]);
    const { send } = await serve(config, [], { OPENAI_API_KEY: key });
    const { output } = await send('hello');
    expect(output).not.toContain(key);
  });

  it('show what an agent says inert', async () => {
    const { config } = await setUp([{ text: 'Look: \u001b]0;owned\u0007\u001b[2J done' }]);
    const { send } = await serve(config);
    const sent = await send('hello');
    expect(sent.stdout).toBe('Look: \\u001b]0;owned\\u0007\\u001b[2J done\n');
  });

  it('go on after the server was killed in the middle of a turn', async () => {
    const port = await freePort();
    const asked = Promise.withResolvers<void>();
    const never = new Promise<void>(() => {});
    const { config } = await setUp(
      (_, number): ModelReply => {
        if (number > 1) return { text: 'Still here.' };
        asked.resolve();
        return { text: 'lost', hold: never };
      },
      { bind: `127.0.0.1:${port}` },
    );
    const first = await serve(config);
    const sending = start(['send', 'hello', '--url', first.url, '--participant', 'ada']);
    await asked.promise;
    await stopped(first.served, 'SIGKILL');
    await sending.until(/the connection was lost/);
    const second = await serve(config);

    expect(await sending.ended, sending.output).toBe(0);
    expect(sending.stdout).toBe('Still here.\n');
    expect(await stopped(second.served, 'SIGTERM')).toBe(0);
  });

  it('end following on SIGINT, and the task goes on', async () => {
    const held = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const { config } = await setUp((): ModelReply => {
      asked.resolve();
      return { text: 'Done without a reader.', hold: held.promise };
    });
    const { url, served } = await serve(config);
    const sending = start(['send', 'hello', '--url', url, '--participant', 'ada']);
    await asked.promise;
    const [, task = ''] = await sending.until(/^task (\S+)$/m);
    sending.child.kill('SIGINT');
    expect(await sending.ended).toBe(130);
    expect(linesOf(sending.stderr).at(-1)).toContain(`task ${task} goes on`);
    held.resolve();
    await served.until(/COMPLETED/);
  });

  it('end at once on a second signal, while the first one drains', async () => {
    const asked = Promise.withResolvers<void>();
    const { config } = await setUp((): ModelReply => {
      asked.resolve();
      return { text: 'never', hold: new Promise<void>(() => {}) };
    });
    const { url, served } = await serve(config);
    start(['send', 'hello', '--url', url, '--participant', 'ada']);
    await asked.promise;
    served.child.kill('SIGTERM');
    await served.until(/draining/);
    expect(await stopped(served, 'SIGTERM')).toBe(143);
    expect(served.stderr).not.toContain('"stopped"');
  });
});
