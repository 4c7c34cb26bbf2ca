/**
 * Slash commands: what they are, how a text reads as one, the registry. A command reads its task and says what is to
 * change; it writes nothing itself. Who may give one is decided outside, by what it needs.
 */
export {
  type Command,
  type CommandContext,
  type CommandNeed,
  type CommandOutcome,
  needOf,
  usageError,
  type WaitingQuestion,
} from './command.ts';
export { type CommandOptions, defineCommand } from './define-command.ts';
export { type ParsedCommand, parseCommand } from './parse.ts';
export { CommandRegistry } from './registry.ts';
