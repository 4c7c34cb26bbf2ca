import { COMMANDS } from '../../builtin/index.ts';
import { CommandRegistry } from '../../core/commands/index.ts';
import type { HarnessOptions } from './options.ts';

/**
 * The slash commands of an agent: the built-in ones, unless they are switched off, and those given in code, which
 * replace built-in ones of the same name.
 *
 * @throws HarnessError `plugin.invalid` for two commands of one name, or a name that is none.
 */
export function createCommands({
  commands = [],
  builtinCommands = true,
}: Pick<HarnessOptions, 'commands' | 'builtinCommands'>): CommandRegistry {
  const registry = new CommandRegistry();
  for (const command of commands) registry.register(command);
  for (const command of builtinCommands ? COMMANDS : []) {
    if (registry.get(command.name) === undefined) registry.register(command);
  }
  return registry;
}
