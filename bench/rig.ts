import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection, WithStartWorkflowOperation } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { z } from 'zod';
import { silentLogger } from '../src/core/base/index.ts';
import type { LlmEvent, LlmPort, LlmRequest } from '../src/core/models/index.ts';
import { defineTool } from '../src/core/tools/index.ts';
import {
  findTemporalCli,
  prepareServer,
  startEmbeddedTemporal,
} from '../src/service/durable/embedded/index.ts';
import { Harness, parseSettings } from '../src/service/harness/index.ts';

/** A harness and a bare worker on one Temporal server. */
export interface Rig {
  readonly client: Client;
  /** Sends a message as A2A does and reads the stream to its end. */
  send(message: { taskId?: string; text: string; single?: boolean }): Promise<Sent>;
  /** Runs the bare workflow with this many activities. Milliseconds. */
  bare(activities: number): Promise<number>;
  history(taskId: string): Promise<{ events: number; bytes: number }>;
  close(): Promise<void>;
}

export interface Sent {
  readonly taskId: string;
  /** Milliseconds from the request to the event that ends the stream. */
  readonly ms: number;
  /** Milliseconds to the first text. */
  readonly firstTextMs: number;
  /** Milliseconds to the first event of each kind: `task`, `WORKING`, `text`, ... */
  readonly marks: Readonly<Record<string, number>>;
  /** For each durable status: milliseconds from its timestamp to its arrival. */
  readonly lagsMs: readonly number[];
}

/**
 * A model of no latency that remembers nothing: it calls the tool as often as the last message says, then answers. (The
 * test kit's scripted model keeps every request, which would be measured as ours.)
 */
class InstantLlm implements LlmPort {
  readonly description = 'model endpoint instant: api=none model=instant';
  readonly model = 'instant';

  async *stream(request: LlmRequest): AsyncGenerator<LlmEvent> {
    const last = request.input.at(-1);
    const words = request.input.findLast((item) => item.type === 'user')?.text ?? '';
    const wanted = Number(/calls (\d+)/.exec(words)?.[1] ?? 0);
    const done = last?.type === 'tool_result' ? Number(/call (\d+) done/.exec(last.text)?.[1] ?? 0) : 0;
    const calling = done < wanted;
    const text = calling ? '' : 'hello '.repeat(20);
    if (text !== '') yield { type: 'text', delta: text };
    const calls = calling
      ? [{ id: 'c', name: 'bench/step', arguments: JSON.stringify({ number: done + 1 }) }]
      : [];
    const usage = { input: 0, cached: 0, output: 0, reasoning: 0 };
    yield {
      type: 'done',
      response: { text, calls, usage, model: this.model, finish: calling ? 'tool_calls' : 'stop' },
    };
  }
}

/** Starts everything; `text` of a message says how many tool calls the scripted model makes ("calls 3"). */
export async function startRig(): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), 'tiny-harness-bench-'));
  const cli = await findTemporalCli({}, { onProgress: (line) => console.error(line) });
  const server = await startEmbeddedTemporal({ cli, databasePath: join(folder, 'temporal.sqlite3') });
  await prepareServer(server.address, { retentionMs: 86_400_000 });
  const settings = parseSettings(
    {
      agent: { id: 'bench' },
      // A small cache, so that most waiting tasks are in none.
      temporal: { mode: 'remote', address: server.address, namespace: 'default', max_cached_workflows: 200 },
      store: { sqlite_path: join(folder, 'store.db') },
      server: { bind: '127.0.0.1:0', rate_limit_per_minute: 1_000_000 },
      context: { history_event_bound: 100_000 },
    },
    {},
  );
  const llm = new InstantLlm();
  const step = defineTool({
    name: 'bench/step',
    description: 'Does one step.',
    input: z.object({ number: z.number() }),
    annotations: { idempotentHint: true },
    run: ({ number }) => `call ${number} done`,
  });
  const harness = new Harness(settings, { llm, tools: [step], logger: silentLogger });
  const listening = await harness.listen();
  await harness.start();

  const native = await NativeConnection.connect({ address: server.address });
  const worker = await Worker.create({
    connection: native,
    taskQueue: 'bare',
    workflowBundle: await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('./bare-workflow.ts', import.meta.url)),
      logger: new DefaultLogger('ERROR'),
    }),
    activities: { noop: async () => 1 },
  });
  const polling = worker.run();
  const connection = await Connection.connect({ address: server.address });
  const client = new Client({ connection });
  let count = 0;

  return {
    client,
    send: (message) => sendOverA2A(listening.origin, `m${++count}`, message),
    async bare(activities) {
      const started = performance.now();
      const operation = new WithStartWorkflowOperation('bare', {
        workflowId: `bare-${++count}`,
        taskQueue: 'bare',
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
      await client.workflow.executeUpdateWithStart('inbox', {
        args: [activities],
        startWorkflowOperation: operation,
      });
      await (await operation.workflowHandle()).result();
      return performance.now() - started;
    },
    async history(taskId) {
      const { historyLength, historySize } = await client.workflow.getHandle(taskId).describe();
      return { events: historyLength, bytes: historySize ?? 0 };
    },
    async close() {
      await listening.close();
      await harness.stop();
      worker.shutdown();
      await polling;
      await connection.close();
      await native.close();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function sendOverA2A(
  origin: string,
  messageId: string,
  { taskId, text, single = false }: { taskId?: string; text: string; single?: boolean },
): Promise<Sent> {
  const started = performance.now();
  const response = await fetch(`${origin}/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-participant-id': 'bench-user' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendStreamingMessage',
      params: {
        message: {
          messageId,
          role: 'ROLE_USER',
          parts: [{ text }],
          ...(taskId === undefined ? {} : { taskId }),
          ...(single ? { metadata: { conversation: 'single' } } : {}),
        },
      },
    }),
  });
  let firstTextMs = 0;
  let id = taskId ?? '';
  const lagsMs: number[] = [];
  const marks: Record<string, number> = {};
  const mark = (name: string) => {
    marks[name] ??= performance.now() - started;
  };
  let pending = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    pending += decoder.decode(chunk, { stream: true });
    const events = pending.split('\n\n');
    pending = events.pop() ?? '';
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (data === undefined) continue;
      const { result, error } = JSON.parse(data);
      if (error) throw new Error(JSON.stringify(error));
      if (result.task) {
        id = result.task.id;
        mark('task');
      }
      if (result.artifactUpdate) mark('text');
      const state = result.statusUpdate?.status?.state;
      if (state) mark(state.replace('TASK_STATE_', ''));
      if (result.artifactUpdate && firstTextMs === 0) firstTextMs = performance.now() - started;
      const timestamp = result.statusUpdate?.status?.timestamp;
      if (timestamp) lagsMs.push(Date.now() - Date.parse(timestamp));
    }
  }
  return { taskId: id, ms: performance.now() - started, firstTextMs, lagsMs, marks };
}
