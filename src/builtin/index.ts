/**
 * What every harness starts with: the system prompt, the intrinsic tools and the slash commands. Replaceable by the same
 * means as anything a plugin brings.
 */
import type { Intrinsic } from '../core/tools/index.ts';
import { askParticipantIntrinsic } from './intrinsics/ask-participant.ts';
import { createTaskForParticipantIntrinsic } from './intrinsics/create-task-for-participant.ts';
import { completeStepIntrinsic, createPlanIntrinsic } from './intrinsics/plan.ts';
import { readToolOutputIntrinsic } from './intrinsics/read-tool-output.ts';
import { setParticipantRoleIntrinsic } from './intrinsics/set-participant-role.ts';
import { spawnSubtaskIntrinsic } from './intrinsics/spawn-subtask.ts';

export { COMMANDS } from './commands/index.ts';
export { loadSystemPrompt } from './system-prompt.ts';

/** The intrinsic tools, in the order of their names. */
export const INTRINSICS: readonly Intrinsic[] = [
  askParticipantIntrinsic,
  completeStepIntrinsic,
  createPlanIntrinsic,
  createTaskForParticipantIntrinsic,
  readToolOutputIntrinsic,
  setParticipantRoleIntrinsic,
  spawnSubtaskIntrinsic,
];
