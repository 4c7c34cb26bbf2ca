import type { ApprovalRule, ApprovalSettings } from '../../../../core/approvals/index.ts';
import type { SettingsFile } from '../schema/index.ts';
import { defined } from '../tables.ts';
import type { Scope } from './scope.ts';

/** `[approvals]`. */
export function resolveApprovals(scope: Scope): ApprovalSettings {
  const { approvers, deadline, rules } = scope.file.approvals;
  return { rules: rules.map(ruleOf), approvers, ...defined({ deadlineMs: deadline }) };
}

function ruleOf({ annotations, ...rule }: SettingsFile['approvals']['rules'][number]): ApprovalRule {
  const hints =
    annotations &&
    defined({
      readOnlyHint: annotations.read_only,
      destructiveHint: annotations.destructive,
      idempotentHint: annotations.idempotent,
      openWorldHint: annotations.open_world,
    });
  return defined({ ...rule, annotations: hints });
}
