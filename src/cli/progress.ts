import type { Sink } from '../interaction/terminal/index.ts';

/** A step that takes longer than this says so. */
const WORTH_A_LINE_MS = 1_000;
const AGAIN_MS = 5_000;

/** Says that a step is still under way when it takes over a second, and again every few seconds (CL-3). */
export async function withProgress<T>(what: string, err: Sink, step: () => Promise<T>): Promise<T> {
  const started = performance.now();
  let timer = setTimeout(function say() {
    const seconds = Math.round((performance.now() - started) / 1000);
    err.write(`${what} ... ${seconds} s\n`);
    timer = setTimeout(say, AGAIN_MS);
  }, WORTH_A_LINE_MS);
  try {
    return await step();
  } finally {
    clearTimeout(timer);
  }
}
