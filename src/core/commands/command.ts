import { HarnessError, type JsonObject } from '../base/index.ts';
import type { Participant, SubState, TaskChange, TaskData, TaskState } from '../loop/index.ts';

/** A question or an approval that waits for somebody. */
export interface WaitingQuestion {
  readonly id: string;
  readonly text: string;
  /** Who may answer. */
  readonly participantIds: readonly string[];
  /** ISO 8601; null: it waits as long as it takes. */
  readonly expiresAt: string | null;
  /** The call that waits for a decision; null for a question. */
  readonly approval: { readonly tool: string; readonly arguments: JsonObject } | null;
}

/** What a command may read of its task. */
export interface CommandContext {
  readonly agentId: string;
  readonly taskId: string;
  /** Who gave the command; a member of the task. */
  readonly caller: Participant;
  readonly state: TaskState;
  readonly subState: SubState | null;
  readonly data: TaskData;
  readonly waiting: readonly WaitingQuestion[];
  /** The model used when the task has none of its own, and those it may have. */
  readonly models: { readonly default: string; readonly selectable: readonly string[] };
  /** The effort used when the task has none of its own. */
  readonly defaultEffort: 'low' | 'medium' | 'high' | null;
}

/** What a command comes to: what its sender reads, a change of the task's data, a sub-task to start. */
export interface CommandOutcome {
  readonly text: string;
  readonly change?: TaskChange;
  readonly subTask?: { readonly name: string; readonly goal: string };
}

/**
 * What giving a command needs (PC-10). `look`: any member may give it. `write`: whoever may write. `complete` and
 * `cancel`: it is what the control envelope and `CancelTask` are, with their permissions.
 */
export type CommandNeed = 'look' | 'write' | 'complete' | 'cancel';

/** A slash command (SF-5). It runs in an activity, without a model call. */
export interface Command {
  /** What stands behind the slash: `^[a-z][a-z0-9-]{0,31}$`. */
  readonly name: string;
  readonly description: string;
  /** How its argument is written, for people: `[model]`; empty when it takes none, and then it is given none. */
  readonly argumentHint: string;
  /** JSON Schema of its argument, a string, for clients that complete it. The harness does not check by it. */
  readonly argumentSchema?: JsonObject;
  /** A function decides by the argument. Read by `needOf`. */
  readonly needs: CommandNeed | ((argument: string) => CommandNeed);
  /**
   * Not called for a command that completes or cancels.
   *
   * @throws HarnessError `input.invalid` whose message its sender reads: how the command is used.
   */
  run(argument: string, context: CommandContext): CommandOutcome | Promise<CommandOutcome>;
}

/**
 * What giving this command with this argument needs; asked before it is run, or what it stands for is done.
 *
 * @throws HarnessError `input.invalid` for an argument to a command that takes none: who writes `/cancel the second
 * order` does not mean the task.
 */
export function needOf(
  command: Pick<Command, 'name' | 'argumentHint' | 'needs'>,
  argument: string,
): CommandNeed {
  if (command.argumentHint === '' && argument !== '') throw usageError(command);
  return typeof command.needs === 'function' ? command.needs(argument) : command.needs;
}

/** What an ill-formed command is answered with: `usage: /effort [low|medium|high|default]`. */
export function usageError({ name, argumentHint }: Pick<Command, 'name' | 'argumentHint'>): HarnessError {
  return new HarnessError('input.invalid', `usage: /${name} ${argumentHint}`.trimEnd());
}
