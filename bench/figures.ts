import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Rig } from './rig.ts';

/** The middle value; with an even count the lower of the two. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[(sorted.length - 1) >> 1] ?? Number.NaN;
}

const round = (value: number, digits = 2) => Number(value.toFixed(digits));

/** Events and bytes of history: one answered message, and each further call. */
export async function pf2(rig: Rig): Promise<object> {
  const eventsOf = async (text: string) => {
    const { taskId } = await rig.send({ text, single: true });
    await rig.client.workflow.getHandle(taskId).result();
    return rig.history(taskId);
  };
  const plain = await eventsOf('hello');
  const few = await eventsOf('calls 1');
  const many = await eventsOf('calls 6');
  // A tool call in this script brings one more model call: two calls in all.
  return {
    message: plain.events,
    message_bytes: plain.bytes,
    per_call: round((many.events - few.events) / 10),
    per_call_bytes: round((many.bytes - few.bytes) / 10, 0),
  };
}

/** Time from the request to the last event, against a bare workflow with the same activities, in pairs. */
export async function pf4(rig: Rig, pairs = 40): Promise<{ ratio: number; detail: object }> {
  const ours: number[] = [];
  const bare: number[] = [];
  for (let pair = -5; pair < pairs; pair += 1) {
    const [a, b] = [(await rig.send({ text: 'hello', single: true })).ms, await rig.bare(2)];
    if (pair < 0) continue;
    ours.push(a);
    bare.push(b);
  }
  const ratio = round(median(ours.map((ms, at) => ms / (bare[at] ?? Number.NaN))));
  return { ratio, detail: { ours_ms: round(median(ours), 1), bare_ms: round(median(bare), 1) } };
}

/** How long durable events and the first text take to a subscriber in the same process. */
export async function pf3(rig: Rig, sends = 30): Promise<object> {
  const lags: number[] = [];
  const firstText: number[] = [];
  for (let send = 0; send < sends; send += 1) {
    const sent = await rig.send({ text: 'calls 2', single: true });
    lags.push(...sent.lagsMs);
    firstText.push(sent.firstTextMs);
  }
  return { durable_p50: round(median(lags), 1), first_text_p50: round(median(firstText), 1) };
}

/** Bytes of history of a late exchange against an early one, in one conversation. */
export async function pf1(rig: Rig, exchanges = 200): Promise<{ ratio: number; detail: object }> {
  const sizes: number[] = [];
  let taskId: string | undefined;
  for (let exchange = 1; exchange <= exchanges; exchange += 1) {
    const sent: { taskId: string } = await rig.send({
      text: `hello ${exchange}`,
      ...(taskId ? { taskId } : {}),
    });
    taskId = sent.taskId;
    sizes.push((await settled(rig, taskId)).bytes);
  }
  const growth = sizes.slice(1).map((size, at) => size - (sizes[at] ?? 0));
  const early = median(growth.slice(1, 21));
  const late = median(growth.slice(-20));
  if (taskId) await rig.client.workflow.getHandle(taskId).terminate('bench is over');
  return { ratio: round(late / early), detail: { early_bytes: early, late_bytes: late, exchanges } };
}

/** The history once the workflow task that follows a commit is in it. */
async function settled(rig: Rig, taskId: string): Promise<{ events: number; bytes: number }> {
  await rig.client.workflow.getHandle(taskId).query('monitor');
  let last = await rig.history(taskId);
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    const next = await rig.history(taskId);
    if (next.events === last.events) return next;
    last = next;
  }
}

/** Runs `count` pieces of work, `width` at a time. */
async function inParallel(
  count: number,
  width: number,
  work: (at: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < count) await work(next++);
    }),
  );
}

/** What waiting tasks cost: heap per task beyond a full workflow cache, and how fast an old one resumes. */
export async function pf5(rig: Rig, tasks = 5000): Promise<object> {
  const ids: string[] = [];
  const park = async () => {
    ids.push((await rig.send({ text: 'hello' })).taskId);
  };
  // More than the workflow cache holds: from here on, a waiting task is in no cache.
  const warm = Math.min(500, tasks / 2);
  await inParallel(warm, 16, park);
  const before = heapAfterCollection();
  await inParallel(tasks - warm, 16, park);
  const perTask = (heapAfterCollection() - before) / (tasks - warm);
  const fresh: number[] = [];
  const resumed: number[] = [];
  for (let pair = 0; pair < 20; pair += 1) {
    fresh.push((await rig.send({ text: 'hello' })).ms);
    resumed.push((await rig.send({ text: 'again', taskId: ids[pair * 7] ?? '' })).ms);
  }
  return {
    tasks,
    heap_bytes_per_task: round(perTask, 0),
    resume_ratio: round(median(resumed) / median(fresh)),
    fresh_ms: round(median(fresh), 1),
    resumed_ms: round(median(resumed), 1),
  };
}

function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

/** Tasks per second on this machine, against the bare workflow. */
export async function pf6(rig: Rig, tasks = 200, width = 16): Promise<object> {
  const perSecond = async (work: () => Promise<unknown>) => {
    const started = performance.now();
    await inParallel(tasks, width, work);
    return tasks / ((performance.now() - started) / 1000);
  };
  const ours = await perSecond(() => rig.send({ text: 'hello', single: true }));
  const bare = await perSecond(() => rig.bare(2));
  return { tasks_per_second: round(ours, 1), bare_per_second: round(bare, 1), ratio: round(ours / bare) };
}

/** Where the time of one answered message goes: medians of the moments its client sees, in milliseconds. */
export async function profile(rig: Rig, sends = 60): Promise<Record<string, number>> {
  const marks: Record<string, number[]> = {};
  for (let send = -10; send < sends; send += 1) {
    const sent = await rig.send({ text: 'hello', single: true });
    if (send < 0) continue;
    for (const [name, ms] of Object.entries(sent.marks)) marks[name] = [...(marks[name] ?? []), ms];
  }
  return Object.fromEntries(Object.entries(marks).map(([name, all]) => [name, round(median(all), 1)]));
}
