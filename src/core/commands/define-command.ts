import type { JsonObject } from '../base/index.ts';
import type { Command } from './command.ts';
import { assertCommandName } from './registry.ts';

type OwnNeed = 'look' | 'write';

/** What a command of one's own says of itself. */
export interface CommandOptions {
  /** What stands behind the slash: `^[a-z][a-z0-9-]{0,31}$`. */
  readonly name: string;
  /** What it does, in a sentence; clients list it. */
  readonly description: string;
  /** How its argument is written, for people: `<order>`. Left out: it takes none, and one given is refused. */
  readonly argumentHint?: string;
  /** JSON Schema of its argument, a string, for clients that complete it. */
  readonly argumentSchema?: JsonObject;
  /**
   * `look`: any member of a task may give it, watchers too. `write`, the default: whoever may write to the task. A
   * function decides by the argument.
   */
  readonly needs?: OwnNeed | ((argument: string) => OwnNeed);
  /**
   * Answers with what the sender reads. It may run again when the process that ran it died before the answer was saved.
   *
   * @throws HarnessError `input.invalid`, best made by `usageError`, whose message the sender reads.
   */
  readonly run: Command['run'];
}

/**
 * Makes a command from a function.
 *
 * @throws HarnessError `plugin.invalid` for a bad name.
 */
export function defineCommand(options: CommandOptions): Command {
  assertCommandName(options.name);
  return { argumentHint: '', needs: 'write', ...options };
}
