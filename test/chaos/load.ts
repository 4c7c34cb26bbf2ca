import type { Random } from './random.ts';

export const KINDS = ['plain', 'tool', 'ask', 'cancel', 'duplicate', 'talk', 'pay', 'part'] as const;
export type Kind = (typeof KINDS)[number];

/** A message that the server accepted. */
export interface Accepted {
  readonly messageId: string;
  readonly taskId: string;
}

/** One task of the load, and what its client saw of it. */
export interface TaskRun {
  readonly kind: Kind;
  readonly order: string;
  readonly accepted: Accepted[];
  /** States the client may find at the end. */
  readonly allowed: readonly string[];
  taskId: string;
  problem?: string;
}

interface WireTask {
  readonly id: string;
  readonly status: { readonly state: string };
}

/** How long a client keeps trying, whatever happens to the other side. */
const PATIENCE_MS = 120_000;

/** Talks to the agent as a patient client does: a failed request is sent again, with the same message id. */
export class Client {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async run(kind: Kind, order: string): Promise<TaskRun> {
    const single = { conversation: 'single' };
    const run: TaskRun = { kind, order, accepted: [], allowed: allowed(kind), taskId: '' };
    try {
      switch (kind) {
        case 'plain':
        case 'tool':
          await this.#send(run, `${order}-1`, `${kind} ${order}`, single);
          break;
        case 'duplicate': {
          const twice = [1, 2].map(() => this.#send(run, `${order}-1`, `plain ${order}`, single));
          const [one, two] = await Promise.all(twice);
          if (one?.id !== two?.id) run.problem = `one message opened two tasks: ${one?.id}, ${two?.id}`;
          break;
        }
        case 'ask': {
          await this.#send(run, `${order}-1`, `ask ${order}`, single);
          await this.#send(run, `${order}-2`, 'yes', {}, run.taskId);
          break;
        }
        case 'pay':
          await this.#send(run, `${order}-1`, `pay ${order}`, single);
          await this.#send(run, `${order}-2`, 'approve', {}, run.taskId);
          break;
        case 'part':
          await this.#send(run, `${order}-1`, `part ${order}`, single);
          await this.#untilAsked(run.taskId);
          await this.#send(run, `${order}-2`, 'yes', {}, run.taskId);
          break;
        case 'talk':
          for (const turn of [1, 2, 3]) {
            await this.#send(
              run,
              `${order}-${turn}`,
              `plain ${order} again`,
              {},
              turn === 1 ? undefined : run.taskId,
            );
          }
          break;
        case 'cancel':
          await this.#send(run, `${order}-1`, `slow ${order}`, single, undefined, true);
          await this.#call('CancelTask', { id: run.taskId }, [-32002]);
          break;
      }
    } catch (error) {
      run.problem = String(error);
    }
    return run;
  }

  /** A sub-task's question may come after the send that started it was answered for by a restarted server. */
  async #untilAsked(taskId: string): Promise<void> {
    for (const until = Date.now() + PATIENCE_MS; Date.now() < until; ) {
      const task = (await this.#call('GetTask', { id: taskId })) as WireTask;
      if (task.status.state === 'TASK_STATE_INPUT_REQUIRED') return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async #send(
    run: TaskRun,
    messageId: string,
    text: string,
    metadata: object,
    taskId?: string,
    returnImmediately = false,
  ): Promise<WireTask> {
    const message = {
      messageId,
      role: 'ROLE_USER',
      parts: [{ text }],
      metadata,
      ...(taskId ? { taskId } : {}),
    };
    const result = await this.#call('SendMessage', { message, configuration: { returnImmediately } });
    const { task } = result as { task: WireTask };
    run.taskId = task.id;
    if (!run.accepted.some((each) => each.messageId === messageId))
      run.accepted.push({ messageId, taskId: task.id });
    return task;
  }

  /** Tries until there is an answer. `final` are error codes that are one. */
  async #call(method: string, params: unknown, final: readonly number[] = []): Promise<unknown> {
    const deadline = Date.now() + PATIENCE_MS;
    let last = '';
    while (Date.now() < deadline) {
      try {
        const response = await fetch(this.#url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-participant-id': 'user' },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
          signal: AbortSignal.timeout(PATIENCE_MS),
        });
        const answer = (await response.json()) as {
          result?: unknown;
          error?: { code: number; message: string };
        };
        if (answer.error === undefined && response.ok) return answer.result;
        if (answer.error && final.includes(answer.error.code)) return undefined;
        last = JSON.stringify(answer.error ?? answer);
        if (response.status !== 503 && answer.error && answer.error.code !== -32603)
          throw new Refused(`${method}: ${last}`);
      } catch (error) {
        if (error instanceof Refused) throw error;
        last = String(error);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`${method}: no answer in ${PATIENCE_MS / 1000} s; the last was ${last}`);
  }
}

class Refused extends Error {}

function allowed(kind: Kind): readonly string[] {
  if (kind === 'cancel') return ['CANCELED', 'COMPLETED'];
  return kind === 'talk' ? ['INPUT_REQUIRED'] : ['COMPLETED'];
}

/** A kind, the rarer ones too. */
export function pickKind(random: Random): Kind {
  return random.pick(KINDS);
}
