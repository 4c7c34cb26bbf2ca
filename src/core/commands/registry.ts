import { HarnessError } from '../base/index.ts';
import type { Command } from './command.ts';
import { isCommandName } from './parse.ts';

/** The commands of one harness, by name. */
export class CommandRegistry {
  readonly #commands = new Map<string, Command>();

  /**
   * Adds a command. `override` replaces one of the same name.
   *
   * @throws HarnessError `plugin.invalid` when the name is taken, or is none.
   */
  register(command: Command, options: { readonly override?: boolean } = {}): void {
    const { name } = command;
    assertCommandName(name);
    if (this.#commands.has(name) && options.override !== true)
      throw new HarnessError(
        'plugin.invalid',
        `the command "/${name}" is registered already; pass override: true to replace it`,
        { details: { command: name } },
      );
    this.#commands.set(name, command);
  }

  /** The command of that name, or undefined: then a text that looks like one is a message. */
  get(name: string): Command | undefined {
    return this.#commands.get(name);
  }

  /** Every command, sorted by name. */
  list(): readonly Command[] {
    return [...this.#commands.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

/** @throws HarnessError `plugin.invalid` for what cannot stand behind a slash. */
export function assertCommandName(name: string): void {
  if (!isCommandName(name))
    throw new HarnessError(
      'plugin.invalid',
      `the command name "${name}" must be 1 to 32 of a-z, 0-9 and "-", and start with a letter`,
    );
}
