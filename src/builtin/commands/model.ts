import { HarnessError } from '../../core/base/index.ts';
import { type Command, type CommandContext, defineCommand } from '../../core/commands/index.ts';

/** What takes a choice back. */
export const DEFAULT = 'default';

/** `/model [name]`: shows the model of this task, or chooses another for its next turns. */
export const modelCommand: Command = defineCommand({
  name: 'model',
  description: 'Show the model of this task, or choose another.',
  argumentHint: '[name|default]',
  argumentSchema: { type: 'string' },
  needs: (argument) => (argument === '' ? 'look' : 'write'),
  run(name, { data, models }) {
    if (name === '') return { text: `${modelLine(data.model, models)}\nto choose from: ${choices(models)}` };
    if (name !== DEFAULT && !models.selectable.includes(name))
      throw new HarnessError(
        'input.invalid',
        `there is no model "${name}" to choose; there are: ${choices(models)}`,
      );
    const model = name === DEFAULT ? null : name;
    return { text: modelLine(model, models), change: { kind: 'set', model } };
  },
});

function modelLine(model: string | null, models: CommandContext['models']): string {
  return model === null ? `model: ${models.default} (the default)` : `model: ${model}`;
}

function choices({ selectable }: CommandContext['models']): string {
  return [...selectable, DEFAULT].join(', ');
}
