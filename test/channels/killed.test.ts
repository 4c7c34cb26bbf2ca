import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, test } from 'vitest';
import { SqliteStore } from '../../src/adapters/store/sqlite/index.ts';
import { startModelServer } from '../../src/testing/index.ts';
import { channelParts, type Json, rawState, rpc, say, statusParts, taskFor, taskOf } from '../http/raw.ts';
import { type OnFinished, testFolder } from '../support/harness.ts';

const FIXTURE = fileURLToPath(new URL('./agent.fixture.ts', import.meta.url));

/** What the medium of an agent in a process of its own was given, over all its lives. */
interface Given {
  readonly id: string;
  readonly text: string;
  readonly to: readonly string[];
}

/** An agent in a process of its own, which is killed and started again on the same store. */
class Agent {
  readonly #settings: string;
  readonly #outbox: string;
  readonly #store: string;
  readonly #onFinished: OnFinished;

  private constructor(folder: string, onFinished: OnFinished) {
    this.#settings = join(folder, 'settings.json');
    this.#outbox = join(folder, 'outbox');
    this.#store = join(folder, 'store.db');
    this.#onFinished = onFinished;
  }

  static async create(onFinished: OnFinished): Promise<Agent> {
    const agent = new Agent(testFolder(onFinished), onFinished);
    const question = { participant_id: 'bob', question: 'Which colour?' };
    const model = await startModelServer({
      replies: (_, n) =>
        n === 1 ? { calls: [{ name: 'ask_participant', arguments: question }] } : { text: 'Blue.' },
    });
    onFinished(() => model.close());
    const settings = {
      agent: { id: `media-${randomUUID().slice(0, 8)}` },
      temporal: { address: inject('temporal'), namespace: 'default', heartbeat_timeout: '2s' },
      openai: { base_url: model.url, model: 'test' },
      server: { bind: '127.0.0.1:0' },
      store: { sqlite_path: agent.#store },
      o11y: { log_level: 'error' },
    };
    writeFileSync(agent.#settings, JSON.stringify(settings));
    return agent;
  }

  /** Starts it; it is gone when the test is over. */
  async start(env: Record<string, string> = {}): Promise<{ url: string; ended: Promise<string> }> {
    const child = spawn(process.execPath, [FIXTURE, this.#settings, this.#outbox], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit').then(([code, signal]) => String(signal ?? code));
    this.#onFinished(async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await ended;
    });
    const url = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (line.startsWith('ready: ')) resolve(line.slice('ready: '.length));
      });
      void ended.then((how) => reject(new Error(`the agent ended with ${how} before it was ready`)));
    });
    return { url, ended };
  }

  given(): Given[] {
    if (!existsSync(this.#outbox)) return [];
    const lines = readFileSync(this.#outbox, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Given);
  }

  /** Ids of the questions that its store has. */
  async questions(): Promise<string[]> {
    const store = SqliteStore.open(this.#store);
    try {
      const { tasks } = await store.tasks({ reader: 'bob', limit: 10 });
      const ids = tasks.map(async ({ id }) => {
        const log = await store.log(id, { kinds: ['question'] });
        return log.map(({ seq }) => `${id}:help:${seq}`);
      });
      return (await Promise.all(ids)).flat();
    } finally {
      await store.close();
    }
  }
}

const participants = { alice: 'reporter', bob: 'reporter' };
const paint = say('', { parts: [{ text: 'Paint the shed' }, taskFor(participants)], messageId: 'm1' });
const send = async (url: string, message: Json, participant: string) =>
  taskOf(await rpc(url, 'SendMessage', message, { participant }));

describe.concurrent('an agent that is killed', { timeout: 90_000 }, () => {
  test('PC-2: between storing a question and delivering it, delivers it afterwards, once, under its id', async ({
    onTestFinished,
  }) => {
    const agent = await Agent.create(onTestFinished);
    const first = await agent.start({ TINY_HARNESS_FAILPOINT: 'channel.stored' });
    await expect(send(first.url, paint, 'alice')).rejects.toThrow();
    expect(await first.ended).toBe('SIGKILL');
    const stored = await agent.questions();
    expect(stored).toHaveLength(1);
    expect(agent.given()).toEqual([]);

    const { url } = await agent.start();
    const task = await send(url, paint, 'alice');

    expect(agent.given()).toEqual([{ id: stored[0], text: 'Which colour?', to: ['bob'] }]);
    expect(await agent.questions()).toEqual(stored);
    expect(channelParts(statusParts(task))).toMatchObject([
      { parts: [{ data: { question_id: stored[0] } }] },
    ]);
    const done = await send(url, say('blue', { taskId: task.id }), 'bob');
    expect([rawState(done), channelParts(statusParts(done))]).toEqual(['INPUT_REQUIRED', []]);
  });

  test('PC-2: right after delivering a question, delivers it again under the same id, and asks once', async ({
    onTestFinished,
  }) => {
    const agent = await Agent.create(onTestFinished);
    const first = await agent.start({ DIES_AFTER_SENDING: '1' });
    await expect(send(first.url, paint, 'alice')).rejects.toThrow();
    expect(await first.ended).toBe('SIGKILL');
    const [once] = agent.given();

    const { url } = await agent.start();
    const task = await send(url, paint, 'alice');

    expect(agent.given()).toEqual([once, once]);
    expect(await agent.questions()).toEqual([once?.id]);
    expect(channelParts(statusParts(task))).toHaveLength(1);
  });
});
