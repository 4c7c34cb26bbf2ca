import { CommanderError } from 'commander';
import { ConfigError, messageOf } from '../core/base/index.ts';
import { createRedactor, secretRegistry } from '../core/security/index.ts';
import { inert, inertLine } from '../interaction/terminal/index.ts';
import { Interrupted } from './interrupted.ts';

/** What a person reads of an error: one line, or one for each problem of a configuration; secrets masked. */
export function errorText(error: unknown, options: { readonly debug: boolean }): string {
  if (error instanceof Interrupted) return '';
  // The help and the version have been written already.
  if (error instanceof CommanderError && (error.exitCode === 0 || error.code === 'commander.help')) return '';
  const problems = error instanceof ConfigError ? error.problems : [messageOf(error).replace(/^error: /, '')];
  const lines = problems.map((problem) => `tiny-harness: ${inertLine(problem)}`);
  if (options.debug && error instanceof Error) lines.push(inert(traceOf(error)));
  return createRedactor(() => secretRegistry().snapshot()).redactText(`${lines.join('\n')}\n`);
}

function traceOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${traceOf(error.cause)}` : '';
  return `${error.stack ?? error.message}${cause}`;
}
