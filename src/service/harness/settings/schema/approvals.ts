import { z } from 'zod';
import { APPROVER_ROLES } from '../../../../core/approvals/index.ts';
import { bool, duration, jsonSchema, nonBlank, oneOf } from './values.ts';

const ruleSchema = z.strictObject({
  tool: nonBlank(),
  annotations: z
    .strictObject({
      read_only: bool().optional(),
      destructive: bool().optional(),
      idempotent: bool().optional(),
      open_world: bool().optional(),
    })
    .optional(),
  arguments: jsonSchema().optional(),
  decision: oneOf('allow', 'ask', 'deny'),
  reason: nonBlank().optional(),
});

/** `[approvals]`: which calls a person decides about (PC-12). */
export const approvalsSchema = z.strictObject({
  approvers: z
    .array(oneOf(...APPROVER_ROLES), 'must be a list of roles')
    .min(1, 'must name a role')
    .default(['admin', 'reporter']),
  deadline: duration(1000).optional(),
  rules: z.array(ruleSchema, 'must be a list of tables').default([]),
});
