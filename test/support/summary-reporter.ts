import { writeSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/**
 * Closes a run with one plain line, `12 passed, 0 failed`, for whoever reads the output with a program. It is written at
 * the exit of the process, so that nothing comes after it.
 */
export default class SummaryReporter implements Reporter {
  #line: string | undefined;

  onInit(): void {
    process.once('exit', () => {
      if (this.#line !== undefined) writeSync(1, `${this.#line}\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    this.#line = summaryOf(modules, unhandled.length);
  }
}

/** What fails outside a test, in a module or its hooks, counts as a failed test: a run that failed says so. */
function summaryOf(modules: readonly TestModule[], unhandled: number): string {
  const count = { passed: 0, failed: unhandled, skipped: 0 };
  for (const module of modules) {
    const states = Array.from(module.children.allTests(), (test) => test.result().state);
    for (const state of states) count[state === 'pending' ? 'skipped' : state] += 1;
    if (module.state() === 'failed' && !states.includes('failed')) count.failed += 1;
  }
  const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
  return `${count.passed} passed, ${count.failed} failed${skipped}`;
}
