// `npm run chaos [-- --kills 200 --seed 7 --clients 6]`: kills server, worker, Temporal or all of them at random under
// a mixed load, and then holds what clients were promised against the log and a tool's own ledger. Exits with 1 on any
// breach. A seed repeats the order of kinds and kills; when they fall is up to the machine.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startModelServer } from '../../src/testing/index.ts';
import { processesNaming } from '../support/processes.ts';
import { Fleet, VICTIMS, type Victim } from './fleet.ts';
import { Client, pickKind, type TaskRun } from './load.ts';
import { think } from './model.ts';
import { Random } from './random.ts';
import { verify } from './verify.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '12' },
    seed: { type: 'string', default: '1' },
    clients: { type: 'string', default: '5' },
    keep: { type: 'boolean', default: false },
  },
});
const [kills, seed, clients] = [values.kills, values.seed, values.clients].map(Number) as [
  number,
  number,
  number,
];
const started = Date.now();
const folder = mkdtempSync(join(tmpdir(), 'tiny-harness-chaos-'));
const random = new Random(seed);
const model = await startModelServer({ replies: (body) => think(body as Parameters<typeof think>[0]) });
const fleet = await Fleet.start(folder, model.url);
console.log(`chaos: seed ${seed}, ${kills} kills, ${clients} clients, in ${folder}`);

const runs: TaskRun[] = [];
let killing = true;
const count: Record<Victim, number> = { server: 0, worker: 0, temporal: 0, all: 0 };

const load = Array.from({ length: clients }, async (_, client) => {
  const own = new Random(seed * 1000 + client);
  const talker = new Client(fleet.url);
  for (let turn = 1; killing; turn += 1)
    runs.push(await talker.run(pickKind(own), `s${seed}c${client}n${turn}`));
});

for (let kill = 1; kill <= kills; kill += 1) {
  await new Promise((resolve) => setTimeout(resolve, random.between(500, 4000)));
  const victim = random.pick(VICTIMS);
  count[victim] += 1;
  await fleet.kill(victim);
  console.log(`kill ${kill} of ${kills}: ${victim}; ${runs.length} tasks so far`);
}
killing = false;
await Promise.all(load);
await fleet.stop();
await model.close();

const verdict = await verify(runs, fleet.store, fleet.ledgerFile);
let left = processesNaming(folder);
// What was killed last may still be on its way out.
for (
  const until = Date.now() + 10_000;
  left.length > 0 && Date.now() < until;
  left = processesNaming(folder)
) {
  await new Promise((resolve) => setTimeout(resolve, 100));
}
const breaches = [...verdict.breaches, ...left.map((pid) => `process ${pid} is left`)];
for (const breach of breaches) console.log(`BREACH ${breach}`);
if (values.keep || breaches.length > 0) console.log(`kept: ${folder}`);
else rmSync(folder, { recursive: true, force: true });
const states = Object.entries(verdict.states).map(([state, tasks]) => `${tasks} ${state}`);
console.log(
  `chaos: seed ${seed}, ${Object.entries(count)
    .map(([victim, times]) => `${times} x ${victim}`)
    .join(', ')}; ` +
    `${runs.length} tasks (${states.join(', ')}), ${verdict.messages} messages, ${verdict.ledger} ledger lines, ` +
    `${verdict.unknown} unknown, ${breaches.length} breaches, ${((Date.now() - started) / 1000).toFixed(0)} s`,
);
process.exit(breaches.length === 0 ? 0 : 1);
