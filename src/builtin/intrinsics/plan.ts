import { z } from 'zod';
import { completeStep, createPlan } from '../../core/loop/index.ts';
import type { Intrinsic } from '../../core/tools/index.ts';
import { defineIntrinsic } from './define.ts';

/** `create_plan`: records the steps of the work, keeping what an earlier plan has finished (PN-1). */
export const createPlanIntrinsic: Intrinsic = defineIntrinsic({
  name: 'create_plan',
  description:
    'Record the plan for this task: its steps and which steps each depends on. Call it before starting real work, ' +
    'and again when the plan changes; finished steps are kept.',
  operation: 'plan.created',
  input: z.strictObject({
    steps: z
      .array(
        z.strictObject({
          name: z.string().min(1).describe('Short and unique within the plan.'),
          description: z.string().describe('What is done in this step.'),
          depends_on: z.array(z.string()).default([]).describe('Names of the steps that come before it.'),
        }),
      )
      .min(1),
  }),
  apply({ steps }, { data }) {
    const planned = steps.map((step) => ({
      name: step.name,
      description: step.description,
      dependsOn: step.depends_on,
    }));
    const plan = createPlan(planned, data.plan);
    const lines = plan.steps.map((step) => `- ${step.id} (${step.state})`).join('\n');
    return { kind: 'result', text: `plan recorded:\n${lines}`, change: { kind: 'set', plan } };
  },
});

/** `complete_step`: marks a step done and records what came of it. */
export const completeStepIntrinsic: Intrinsic = defineIntrinsic({
  name: 'complete_step',
  description: 'Mark a step of the plan as done and record its output, as soon as the step is finished.',
  operation: 'step.finished',
  input: z.strictObject({
    step: z.string().min(1).describe('Name or id of the step.'),
    output: z.string().describe('What came of the step, in a few sentences.'),
  }),
  apply({ step, output }, { data }) {
    const plan = completeStep(data.plan, step, output);
    const left = plan.steps.filter((each) => each.state !== 'done').map((each) => each.id);
    const text =
      left.length === 0 ? 'recorded; every step is done' : `recorded; open steps: ${left.join(', ')}`;
    return { kind: 'result', text, change: { kind: 'set', plan } };
  },
});
