import { type Command, defineCommand, usageError } from '../../core/commands/index.ts';
import { nameOf } from '../../core/loop/index.ts';

/** `/sub-task <what is to be done>`: starts a sub-task, without asking the model. */
export const subTaskCommand: Command = defineCommand({
  name: 'sub-task',
  description: 'Start a sub-task.',
  argumentHint: '<what is to be done>',
  argumentSchema: { type: 'string', minLength: 1 },
  run(goal) {
    if (goal === '') throw usageError(subTaskCommand);
    const name = nameOf(goal);
    return { text: `starts the sub-task "${name}"`, subTask: { name, goal } };
  },
});
