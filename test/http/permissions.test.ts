import { expect, test } from 'vitest';
import { reply } from '../../src/testing/index.ts';
import { startTestHarness } from '../support/harness.ts';
import {
  BINDINGS,
  channelPart,
  eventPart,
  type Json,
  openStream,
  type RawOptions,
  rpc,
  say,
  send,
  taskFor,
  taskOf,
} from './raw.ts';

/**
 * PC-10, what becomes of an operation on a task: `ok` it is done; `told` a status update on the caller's own answer says
 * why not; `denied` an error says why not; `-` there is no such task.
 */
const TABLE = `
                       reporter  assignee  admin     watcher   stranger  nobody
  GetTask              ok        ok        ok        ok        -         -
  ListTasks            ok        ok        ok        ok        empty     -
  SubscribeToTask      ok        ok        ok        ok        -         -
  SendMessage          ok        ok        ok        told      -         -
  SendStreamingMessage ok        ok        ok        told      -         -
  CancelTask           ok        ok        ok        denied    -         -
  control:complete     ok        ok        ok        denied    -         -
  task:name            ok        ok        ok        told      -         -
  task:participants    told      told      ok        told      -         -
  another:channel      told      told      told      told      -         -
  /status              ok        ok        ok        ok        -         -
  /model               ok        ok        ok        ok        -         -
  /model:scripted      ok        ok        ok        told      -         -
  /complete            ok        ok        ok        told      -         -
  /cancel              ok        ok        ok        told      -         -
`;

const [[...PEOPLE] = [], ...ROWS] = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/));

const MEMBERS = { reporter: 'reporter', assignee: 'assignee', admin: 'admin', watcher: 'watcher' };

/** What ends a task; each is done to one of its own. */
const ENDS = ['CancelTask', 'control:complete', '/complete', '/cancel'];

const ABSENT = '00000000-0000-8000-8000-000000000000';

/** A row's operation on the task with this id, as somebody calls it. */
function operation(row: string, id: string, person: string): readonly [method: string, params: Json] {
  const message = (more: Json, text = ''): readonly [string, Json] => [
    row === 'SendStreamingMessage' ? row : 'SendMessage',
    say(text, { taskId: id, ...more }, { returnImmediately: true }),
  ];
  const envelope = (payload: Json) => message({ parts: [eventPart({ kind: 'task', payload })] });
  switch (row) {
    case 'GetTask':
    case 'SubscribeToTask':
    case 'CancelTask':
      return [row, { id }];
    case 'ListTasks':
      return [row, { pageSize: 100 }];
    case 'SendMessage':
    case 'SendStreamingMessage':
      return message({}, 'Hi');
    case 'control:complete':
      return message({ parts: [eventPart({ kind: 'control', action: 'complete' })] });
    case 'task:name':
      return envelope({ name: 'Hut' });
    case 'task:participants':
      return envelope({ participants: Object.keys(MEMBERS).map((role) => ({ id: role, role })) });
    case 'another:channel': {
      const part = { channel_id: 'another', sender: person, kind: 'message', text: 'Hi' };
      return message({ parts: [channelPart(part)] });
    }
    default:
      return message({}, row.replace(':', ' '));
  }
}

function as(person: string, binding: NonNullable<RawOptions['binding']>): RawOptions {
  return person === 'nobody' ? { binding } : { binding, participant: person };
}

/** What became of an operation, in a word of the table. */
async function outcome(url: string, row: string, id: string, person: string, options: RawOptions) {
  const [method, params] = operation(row, id, person);
  const streams = method === 'SendStreamingMessage' || method === 'SubscribeToTask';
  const { error, result } = streams
    ? await streamed(url, method, params, options)
    : await rpc(url, method, params, options);
  if (error) return error.code === -32001 ? '-' : error.code === -32004 ? 'denied' : `${error.code}`;
  const answer = JSON.stringify(result);
  if (method === 'ListTasks') return answer.includes(id) ? 'ok' : 'empty';
  return answer.includes(':refusal:') ? 'told' : 'ok';
}

/** The event that says what became of it: a send's second, after the task; a subscription's first. */
async function streamed(url: string, method: string, params: Json, options: RawOptions) {
  const stream = await openStream(url, method, params, options);
  const [first] = await stream.until(() => true);
  const [said] = method === 'SubscribeToTask' || first?.error ? [first] : await stream.until(() => true);
  stream.drop();
  return { error: said?.error, result: said?.result };
}

/** Everything a caller sees of an answer; the task's id, which is theirs, apart. */
async function bytes(url: string, row: string, id: string, person: string, options: RawOptions) {
  const response = await send(url, ...operation(row, id, person), options);
  const headers = [...response.headers].filter(([name]) => name !== 'date');
  return [response.status, headers, (await response.text()).replaceAll(id, 'ID')];
}

async function openTask(url: string, roles: Record<string, string>, participant: string): Promise<string> {
  const params = say('', { parts: [taskFor(roles)] });
  return String(taskOf(await rpc(url, 'SendMessage', params, { participant })).id);
}

test.each(BINDINGS)('PC-10: over %s everybody may do what the table says, and no more', async (binding) => {
  const { url } = await startTestHarness(() => reply('Ok.'));
  // What may not be done is tried on one task, which must not change; what may be done, on another.
  const quiet = await openTask(url, MEMBERS, 'reporter');
  const busy = await openTask(url, MEMBERS, 'reporter');
  const read = async () => taskOf(await rpc(url, 'GetTask', { id: quiet }, { participant: 'admin' }));
  const before = await read();

  const came = await Promise.all(
    ROWS.map(async ([row = '', ...expected]) => {
      const words = PEOPLE.map(async (person, at) => {
        const ends = ENDS.includes(row) ? await openTask(url, MEMBERS, 'reporter') : busy;
        return outcome(url, row, expected[at] === 'ok' ? ends : quiet, person, as(person, binding));
      });
      return [row, ...(await Promise.all(words))];
    }),
  );

  expect(came).toEqual(ROWS);
  expect(await read()).toEqual(before);
});

test.each(BINDINGS)(
  'PC-10: over %s a foreign task is, byte for byte, one that is not there',
  async (binding) => {
    const { url } = await startTestHarness(() => reply('Ok.'));
    await openTask(url, MEMBERS, 'reporter');
    const foreign = await openTask(url, { zoe: 'reporter' }, 'zoe');
    const read = async () => taskOf(await rpc(url, 'GetTask', { id: foreign }, { participant: 'zoe' }));
    const before = await read();

    for (const [row = ''] of ROWS) {
      for (const person of PEOPLE) {
        const options = as(person, binding);
        const there = await bytes(url, row, foreign, person, options);
        const what = `${row} by ${person}`;
        expect.soft(there, what).toEqual(await bytes(url, row, ABSENT, person, options));
        if (row === 'ListTasks' && person !== 'nobody') expect.soft(there[2], what).not.toContain('ID');
        else expect.soft(there[2], what).toContain('"reason":"TASK_NOT_FOUND"');
      }
    }
    expect(await read()).toEqual(before);
  },
);
