import { readdirSync, readFileSync } from 'node:fs';

/** The processes whose command line names `text` (a folder of the test's own, so that no other one can match). */
export function processesNaming(text: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      const state = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1];
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      return command.includes(text) && !state?.startsWith('Z') ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}
