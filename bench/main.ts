// `npm run bench [-- --json] [-- --only PF-2,PF-4] [-- --runs 3]`: the performance budget, measured on this machine.
import { parseArgs } from 'node:util';
import { median, pf1, pf2, pf3, pf4 } from './figures.ts';
import { startRig } from './rig.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
    runs: { type: 'string', default: '3' },
  },
});
const runs = Number(values.runs);
const wanted = new Set(values.only?.split(',') ?? ['PF-2', 'PF-4', 'PF-3', 'PF-1']);
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
  if (wanted.has('PF-1')) {
    const { ratio, detail } = await pf1(rig);
    result['PF-1'] = ratio;
    say(`PF-1  growth: ratio ${ratio}, ${JSON.stringify(detail)}`);
  }
} finally {
  await rig.close();
}
if (values.json) console.log(JSON.stringify(result));
