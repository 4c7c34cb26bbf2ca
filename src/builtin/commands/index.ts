import type { Command } from '../../core/commands/index.ts';
import { approvalsCommand } from './approvals.ts';
import { effortCommand } from './effort.ts';
import { cancelCommand, completeCommand } from './ending.ts';
import { modelCommand } from './model.ts';
import { statusCommand } from './status.ts';
import { subTaskCommand } from './sub-task.ts';

/** The slash commands, in the order of their names (SF-5). */
export const COMMANDS: readonly Command[] = [
  approvalsCommand,
  cancelCommand,
  completeCommand,
  effortCommand,
  modelCommand,
  statusCommand,
  subTaskCommand,
];
