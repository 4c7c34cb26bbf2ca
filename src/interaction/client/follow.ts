import { setTimeout as wait } from 'node:timers/promises';
import type { StreamResponse } from '@a2a-js/sdk';
import { messageOf } from '../../core/base/index.ts';
import type { AgentConnection } from './connect.ts';
import { AgentError, answerOf, asAgentError } from './errors.ts';
import type { Happening } from './happening.ts';
import { TaskReader } from './reader.ts';
import { requestOf, type Words } from './request.ts';

/** How long a lost connection is tried again. */
const RECONNECT_MS = 60_000;
const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 5_000;

/**
 * Says something to an agent and follows what comes of it, until the task waits again or has ended. A connection that
 * is lost on the way is made again, and nothing is told twice.
 *
 * @throws AgentError; the signal's reason when it aborts. The task goes on without its reader.
 */
export async function* follow(
  connection: AgentConnection,
  words: Words,
): AsyncGenerator<Happening, void, undefined> {
  const { sdk, signal, url } = connection;
  const reader = new TaskReader();
  try {
    const problem = yield* read(reader, sdk.sendMessageStream(requestOf(words, connection.participant)));
    if (!reader.settled) {
      signal.throwIfAborted();
      if (reader.taskId === undefined || answerOf(problem) !== undefined) {
        throw asAgentError(
          problem ?? new AgentError('not_an_agent', `${url} ended the stream without a word`),
          url,
        );
      }
      yield* resume(connection, reader, problem);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw asAgentError(error, url);
  }
  yield { kind: 'end', ...reader.ending };
}

/** Follows the task again and again until it is settled or the time for that is over. */
async function* resume(
  { sdk, signal, url }: AgentConnection,
  reader: TaskReader,
  first: unknown,
): AsyncGenerator<Happening, void, undefined> {
  const id = reader.taskId ?? '';
  let problem = first;
  let since = Date.now();
  let delay = FIRST_DELAY_MS;
  yield { kind: 'reconnecting', reason: reasonOf(problem) };
  while (!reader.settled) {
    if (Date.now() - since > RECONNECT_MS) {
      throw new AgentError(
        'unreachable',
        `the connection to ${url} was lost (${reasonOf(problem)}) and did not come back; task ${id} may go on`,
        { cause: problem },
      );
    }
    await wait(delay, undefined, { signal });
    delay = Math.min(delay * 2, LONGEST_DELAY_MS);
    reader.interrupted();
    try {
      // First a plain question: a task that has ended meanwhile has no stream to subscribe to.
      yield* reader.snapshot(await sdk.getTask({ id, historyLength: 0, tenant: '' }));
    } catch (error) {
      if (answerOf(error) !== undefined) throw error;
      signal.throwIfAborted();
      problem = error;
      continue;
    }
    delay = FIRST_DELAY_MS;
    if (!reader.settled) {
      problem = yield* read(reader, sdk.resubscribeTask({ id, tenant: '' }));
      // The time begins with the loss, however long the stream before it lasted.
      since = Date.now();
    }
    signal.throwIfAborted();
  }
}

/** Reads a stream until the task is settled or the stream ends; returns what it broke off with. */
async function* read(
  reader: TaskReader,
  stream: AsyncIterable<StreamResponse>,
): AsyncGenerator<Happening, unknown, undefined> {
  try {
    for await (const response of stream) {
      yield* reader.read(response);
      if (reader.settled) return undefined;
    }
    return undefined;
  } catch (error) {
    return error ?? new Error('the stream broke off');
  }
}

function reasonOf(problem: unknown): string {
  return problem === undefined ? 'the stream ended early' : messageOf(problem);
}
