import { HarnessError } from '../../core/base/index.ts';
import type { Command } from '../../core/commands/index.ts';

/** `/complete`: what the control envelope does (PC-13). */
export const completeCommand: Command = {
  name: 'complete',
  description: 'End the conversation: the task is completed.',
  argumentHint: '',
  needs: 'complete',
  run: refuseToRun,
};

/** `/cancel`: what `CancelTask` does. */
export const cancelCommand: Command = {
  name: 'cancel',
  description: 'Cancel the task and what it is doing.',
  argumentHint: '',
  needs: 'cancel',
  run: refuseToRun,
};

/** An end has no answer of its own: the task's last status says who ended it. */
function refuseToRun(): never {
  throw new HarnessError('internal', 'a command that ends a task is carried out, not run');
}
