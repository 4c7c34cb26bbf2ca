/**
 * What every harness starts with: the system prompt and the intrinsic tools. Replaceable by the same means as anything
 * a plugin brings.
 */
import type { Intrinsic } from '../core/tools/index.ts';
import { askParticipantIntrinsic } from './intrinsics/ask-participant.ts';
import { completeStepIntrinsic, createPlanIntrinsic } from './intrinsics/plan.ts';
import { readToolOutputIntrinsic } from './intrinsics/read-tool-output.ts';

export { loadSystemPrompt } from './system-prompt.ts';

/** The intrinsic tools, in the order of their names. */
export const INTRINSICS: readonly Intrinsic[] = [
  askParticipantIntrinsic,
  completeStepIntrinsic,
  createPlanIntrinsic,
  readToolOutputIntrinsic,
];
