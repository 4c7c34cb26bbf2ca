import { readFileSync } from 'node:fs';
import { SqliteStore } from '../../src/adapters/store/sqlite/index.ts';
import { isInterrupted, isTerminal } from '../../src/core/loop/index.ts';
import type { LogEntry } from '../../src/core/persistence/index.ts';
import type { TaskRun } from './load.ts';

export interface Verdict {
  /** Every breach, one line each. */
  readonly breaches: readonly string[];
  readonly messages: number;
  readonly states: Readonly<Record<string, number>>;
  readonly ledger: number;
  /** Tool runs of which nobody knows whether they took effect, and were told so. */
  readonly unknown: number;
}

/** Holds what the clients were promised against what the store and the ledger say. */
export async function verify(
  runs: readonly TaskRun[],
  storePath: string,
  ledgerFile: string,
): Promise<Verdict> {
  const store = SqliteStore.open(storePath);
  const breaches: string[] = [];
  const states: Record<string, number> = {};
  let messages = 0;
  let unknown = 0;
  const ledger = readFileSync(ledgerFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  try {
    for (const run of runs) {
      const name = `${run.kind} ${run.order} (${run.taskId})`;
      if (run.problem) breaches.push(`${name}: ${run.problem}`);
      const task = await store.task(run.taskId);
      if (task === undefined) {
        breaches.push(`${name}: the task is not there`);
        continue;
      }
      states[task.state] = (states[task.state] ?? 0) + 1;
      if (!run.allowed.includes(task.state))
        breaches.push(`${name}: is ${task.state}, not ${run.allowed.join(' or ')}`);
      const parts = task.data.subTasks.map(({ state }) => state);
      if (run.kind === 'part' && (parts.length !== 1 || parts[0] !== 'COMPLETED'))
        breaches.push(`${name}: its sub-tasks are ${JSON.stringify(parts)}`);
      const log = await store.log(run.taskId);
      breaches.push(...logBreaches(log).map((breach) => `${name}: ${breach}`));
      const inbox = await store.inboxRows(
        log.flatMap(({ body }) => (body.kind === 'message' ? [body.inbox] : [])),
      );
      for (const accepted of run.accepted) {
        messages += 1;
        const times = inbox.filter((row) => row.messageId === accepted.messageId).length;
        if (times !== 1) breaches.push(`${name}: message ${accepted.messageId} is in the log ${times} times`);
      }
      if (run.kind === 'tool' || run.kind === 'pay') {
        const result = JSON.stringify([...(await store.effects(run.taskId, ['result:1.0.0'])).values()]);
        const line = run.kind === 'pay' ? `pay-${run.order}` : run.order;
        const recorded = ledger.filter((each) => each === line).length;
        const isUnknown = result.includes('tool.outcome_unknown');
        if (isUnknown) unknown += 1;
        if (recorded > 1) breaches.push(`${name}: the ledger has it ${recorded} times`);
        if (recorded === 0 && result.includes(`recorded ${line}`))
          breaches.push(`${name}: said to be recorded, and is not`);
      }
    }
    for (const row of await store.unconsumed(1000))
      breaches.push(`message ${row.messageId} was never worked on`);
  } finally {
    await store.close();
  }
  return { breaches, messages, states, ledger: ledger.length, unknown };
}

function logBreaches(log: readonly LogEntry[]): string[] {
  const breaches: string[] = [];
  if (log.some((entry, at) => entry.seq !== at + 1)) breaches.push('its log has a gap');
  const ends = new Map<number, number>();
  let terminal = 0;
  for (const { exchange, body } of log) {
    if (body.kind !== 'state') continue;
    if (terminal > 0) breaches.push(`its log goes on to ${body.state} after its end`);
    if (isTerminal(body.state)) terminal += 1;
    if (isTerminal(body.state) || isInterrupted(body.state))
      ends.set(exchange, (ends.get(exchange) ?? 0) + 1);
  }
  for (const [exchange, count] of ends)
    if (count > 1) breaches.push(`exchange ${exchange} ended ${count} times`);
  return breaches;
}
