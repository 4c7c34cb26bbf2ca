/** A text that reads as a command. Whether there is one of that name, the registry knows. */
export interface ParsedCommand {
  readonly name: string;
  /** What stands behind the name, trimmed; it may have several lines. */
  readonly argument: string;
}

/** The form of a command's name. */
const NAME = '[a-z][a-z0-9-]{0,31}';
const WHOLE_NAME = new RegExp(`^${NAME}$`);
const COMMAND = new RegExp(`^/(${NAME})(?:\\s([\\s\\S]*))?$`);

/** `/<name>`, alone or followed by white space and an argument, as the whole text; undefined for anything else. */
export function parseCommand(text: string): ParsedCommand | undefined {
  const [, name, argument = ''] = COMMAND.exec(text) ?? [];
  return name === undefined ? undefined : { name, argument: argument.trim() };
}

/** True for a name that `parseCommand` can read. */
export function isCommandName(name: string): boolean {
  return WHOLE_NAME.test(name);
}
