// `npm run bench [-- --json] [-- --only PF-2,PF-4,profile] [-- --runs 3] [-- --check]`: the performance budget, measured on this
// machine. `--check` fails when a figure is over its limit.
import { parseArgs } from 'node:util';
import { overBudget } from './budget.ts';
import { median, pf1, pf2, pf3, pf4, pf5, pf6, profile } from './figures.ts';
import { startRig } from './rig.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    only: { type: 'string' },
    runs: { type: 'string', default: '3' },
    // Waiting tasks for PF-5.
    tasks: { type: 'string', default: '5000' },
  },
});
const runs = Number(values.runs);
const wanted = new Set(values.only?.split(',') ?? ['PF-2', 'PF-4', 'PF-3', 'PF-6', 'PF-1', 'PF-5']);
const say = (line: string) => console.error(line);

const rig = await startRig();
const result: Record<string, unknown> = {};
try {
  if (wanted.has('PF-2')) {
    result['PF-2'] = await pf2(rig);
    say(`PF-2  history: ${JSON.stringify(result['PF-2'])}`);
  }
  if (wanted.has('PF-4')) {
    const measured = [];
    for (let run = 0; run < runs; run += 1) measured.push(await pf4(rig));
    result['PF-4'] = median(measured.map((each) => each.ratio));
    say(`PF-4  overhead: ratio ${result['PF-4']}, runs ${JSON.stringify(measured)}`);
  }
  if (wanted.has('PF-3')) {
    result['PF-3'] = await pf3(rig);
    say(`PF-3  streaming: ${JSON.stringify(result['PF-3'])}`);
  }
  if (wanted.has('profile')) say(`profile of one message, ms: ${JSON.stringify(await profile(rig))}`);
  if (wanted.has('PF-6')) {
    result['PF-6'] = await pf6(rig);
    say(`PF-6  throughput: ${JSON.stringify(result['PF-6'])}`);
  }
  if (wanted.has('PF-1')) {
    const { ratio, detail } = await pf1(rig);
    result['PF-1'] = ratio;
    say(`PF-1  growth: ratio ${ratio}, ${JSON.stringify(detail)}`);
  }
  if (wanted.has('PF-5')) {
    result['PF-5'] = await pf5(rig, Number(values.tasks));
    say(`PF-5  waiting: ${JSON.stringify(result['PF-5'])}`);
  }
} finally {
  await rig.close();
}
if (values.json) console.log(JSON.stringify(result));
if (values.check) {
  const over = overBudget(result);
  for (const line of over) console.error(`over budget: ${line}`);
  process.exitCode = over.length === 0 ? 0 : 1;
}
