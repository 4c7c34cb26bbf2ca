import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type ModelReply, startModelServer } from '../../src/testing/index.ts';
import { type Json, rawState, rpc, say } from '../http/raw.ts';
import { testFolder } from '../support/harness.ts';
import { processesNaming } from '../support/processes.ts';
import { type Served, serve } from '../support/serve.ts';
import { ask, openApprovals, openQuestions, spawn, statusText, subTasks, Talk } from './talk.ts';

/** An agent on an embedded Temporal, whose sub-tasks have to be approved. */
function configFile(folder: string, modelUrl: string): string {
  const path = join(folder, 'agent.toml');
  writeFileSync(
    path,
    `
[agent]
id = "people-${folder.slice(-6).toLowerCase()}"
[temporal]
mode = "embedded"
[openai]
base_url = "${modelUrl}"
model = "test"
[server]
bind = "127.0.0.1:0"
[store]
sqlite_path = "${join(folder, 'store.db')}"
[[approvals.rules]]
tool = "spawn_subtask"
decision = "ask"
`,
  );
  return path;
}

/** Kills server, worker and Temporal at once, and starts them again. */
async function killedAndRestarted(folder: string, config: string, agent: Served): Promise<Served> {
  const victims = new Set([agent.pid, ...processesNaming(folder)]);
  expect(victims.size).toBeGreaterThanOrEqual(2);
  for (const pid of victims) process.kill(pid, 'SIGKILL');
  expect(await agent.ended).toBe('SIGKILL');
  return serve(config);
}

const calls = (...replies: readonly ModelReply[]): ModelReply => ({
  calls: replies.flatMap((each) => ('calls' in each ? (each.calls ?? []) : [])),
});

test('PC-5, PC-12, ST-3: everything is killed while people are asked; they answer in reverse over both bindings', {
  timeout: 120_000,
}, async () => {
  const folder = testFolder();
  const replies: ModelReply[] = [
    calls(ask('alice', 'Which colour?'), ask('bob', 'How much?'), spawn('Buy paint')),
    { text: 'Two, says Bob.' },
    { text: 'Red, says Alice.' },
  ];
  const afterwards = { child: [ask('alice', 'Which shop?'), { text: 'Bought.' }], parent: 'Painted.' };
  const model = await startModelServer({
    replies(body) {
      if (JSON.stringify(body).includes('goal: Goal of Buy paint')) {
        return afterwards.child.shift() ?? { text: 'nothing left' };
      }
      return replies.shift() ?? { text: afterwards.parent };
    },
  });
  onTestFinished(() => model.close());
  const config = configFile(folder, model.url);

  let agent = await serve(config);
  let talk = new Talk(agent.url);
  const people = { alice: 'reporter', bob: 'reporter', ada: 'admin' };
  const task = await talk.open('Paint', people, { single: true });
  expect(openQuestions(task)).toHaveLength(3);
  const shown = openQuestions(task).map(({ id, text }) => [id, text]);
  const [colour, amount] = openQuestions(task);

  agent = await killedAndRestarted(folder, config, agent);
  talk = new Talk(agent.url);
  const again = await talk.task(task.id);
  expect(openQuestions(again).map(({ id, text }) => [id, text])).toEqual(shown);

  const bobs = await answerOverRest(talk, task.id, 'bob', amount?.id, 'two');
  expect(openQuestions(bobs)).toHaveLength(2);
  const alices = await talk.answer(task.id, 'alice', colour?.id ?? '', 'red');
  const [approval] = openApprovals(alices);
  expect(openQuestions(alices)).toHaveLength(1);
  expect(subTasks(alices)).toEqual([]);
  if (approval) await talk.decide(task.id, 'ada', approval, 'approve');
  const asked = await talk.until(task.id, (now) => openQuestions(now)[0]?.text.includes('shop') === true);
  const [child] = subTasks(asked);

  agent = await killedAndRestarted(folder, config, agent);
  talk = new Talk(agent.url);
  await talk.say(task.id, 'alice', 'the big one');
  const done = await talk.ended(task.id);
  expect([rawState(done), statusText(done)]).toEqual(['COMPLETED', 'Painted.']);
  expect(rawState(await talk.task(child))).toBe('COMPLETED');
  expect(subTasks(done)).toHaveLength(1);

  agent.kill('SIGTERM');
  expect(await agent.ended).toBe(0);
  expect(processesNaming(folder)).toEqual([]);
});

async function answerOverRest(
  talk: Talk,
  taskId: unknown,
  participant: string,
  inReplyTo: string | undefined,
  text: string,
): Promise<Json> {
  const data = {
    channel_id: taskId,
    sender: participant,
    kind: 'help_reply',
    text,
    parts: [],
    in_reply_to: inReplyTo,
  };
  const part = { data, mediaType: 'application/vnd.tiny-harness.channel+json' };
  const message = say('', { taskId, parts: [part] });
  const { result } = await rpc(talk.url, 'SendMessage', message, { participant, binding: 'HTTP+JSON' });
  return result?.task as Json;
}
