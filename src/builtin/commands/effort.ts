import { type Command, type CommandContext, defineCommand, usageError } from '../../core/commands/index.ts';
import { DEFAULT } from './model.ts';

const EFFORTS = ['low', 'medium', 'high'] as const;
const CHOICES = [...EFFORTS, DEFAULT];

type Effort = (typeof EFFORTS)[number];

/** `/effort [low|medium|high|default]`: shows how hard the model thinks in this task, or changes it. */
export const effortCommand: Command = defineCommand({
  name: 'effort',
  description: 'Show how hard the model thinks in this task, or change it.',
  argumentHint: `[${CHOICES.join('|')}]`,
  argumentSchema: { type: 'string', enum: CHOICES },
  needs: (argument) => (argument === '' ? 'look' : 'write'),
  run(argument, { data, defaultEffort }) {
    if (argument === '') return { text: effortLine(data.reasoningEffort, defaultEffort) };
    const reasoningEffort = argument === DEFAULT ? null : EFFORTS.find((effort) => effort === argument);
    if (reasoningEffort === undefined) throw usageError(effortCommand);
    return {
      text: effortLine(reasoningEffort, defaultEffort),
      change: { kind: 'set', reasoningEffort },
    };
  },
});

function effortLine(effort: Effort | null, byDefault: CommandContext['defaultEffort']): string {
  return effort === null
    ? `effort: ${byDefault ?? 'as the model has it'} (the default)`
    : `effort: ${effort}`;
}
