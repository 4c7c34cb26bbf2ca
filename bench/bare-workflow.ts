import { condition, defineUpdate, proxyActivities, setHandler } from '@temporalio/workflow';

const { noop } = proxyActivities<{ noop(): Promise<number> }>({
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '30 seconds',
  retry: { maximumAttempts: 1 },
});

/** What every figure is held against: a workflow that takes one message and runs `activities` activities. */
export async function bare(): Promise<void> {
  const inbox: number[] = [];
  setHandler(defineUpdate<boolean, [number]>('inbox'), (activities) => {
    inbox.push(activities);
    return true;
  });
  await condition(() => inbox.length > 0);
  for (let left = inbox[0] ?? 0; left > 0; left -= 1) await noop();
}
