#!/usr/bin/env node
import { exitCodeOf } from './exit-codes.ts';
import { createProgram, type Outcome } from './program.ts';
import { errorText } from './report-error.ts';
import { endSignal } from './signals.ts';

// Older ones crash in the store's native code instead of saying so.
if (Number(process.versions.node.split('.', 1)[0]) < 24) {
  process.stderr.write(`tiny-harness needs Node 24 or later; this is ${process.version}\n`);
  process.exit(2);
}
const args = process.argv.slice(2);
const outcome: Outcome = { code: 0 };
// A reader that went away (`send ... | head`) is no reason for a stack, and none to stop serving.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
try {
  const program = createProgram(endSignal(), outcome);
  if (args.length === 0) program.outputHelp();
  else await program.parseAsync(args, { from: 'user' });
} catch (error) {
  process.stderr.write(errorText(error, { debug: args.includes('--debug') }));
  outcome.code = exitCodeOf(error);
}
process.exitCode = outcome.code;
await flushed();
// Whatever a library left behind (an idle connection, a timer) must not keep an ended command alive.
process.exit();

/** Pipes are written in the background: what was said must be out before the end. */
async function flushed(): Promise<void> {
  await Promise.all(
    [process.stdout, process.stderr].map(async (stream) => {
      if (!stream.destroyed) await new Promise<void>((resolve) => stream.write('', () => resolve()));
    }),
  );
}
