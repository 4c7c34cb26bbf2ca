import { createInterface } from 'node:readline/promises';
import { HarnessError } from '../core/base/index.ts';

/** Reads lines a person types, or that come in by a pipe. */
export interface Asker extends Disposable {
  /** Shows the prompt and waits for a line that is not empty. @throws when the input ends first. */
  ask(prompt: string): Promise<string>;
}

export function createAsker(signal: AbortSignal): Asker {
  const lines = createInterface({ input: process.stdin, terminal: false });
  const waiting = lines[Symbol.asyncIterator]();
  return {
    async ask(prompt) {
      process.stdout.write(prompt);
      const aborted = new Promise<never>((_, reject) => {
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
      for (;;) {
        const line = await Promise.race([waiting.next(), aborted]);
        if (line.done) throw new HarnessError('input.invalid', 'the input ended before there was an answer');
        if (!process.stdin.isTTY) process.stdout.write(`${line.value}\n`);
        if (line.value.trim() !== '') return line.value.trim();
      }
    },
    [Symbol.dispose]: () => lines.close(),
  };
}
