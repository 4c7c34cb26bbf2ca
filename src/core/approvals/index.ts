/**
 * Approvals: which calls a person decides about, who that is, and what counts as a decision. Says what holds; it asks
 * nobody and keeps nothing.
 */
export { APPROVAL_OPTIONS, type ApprovalChoice, choiceOf } from './answer.ts';
export { APPROVER_ROLES, type ApprovalSettings, type ApproverRole, approversOf } from './approvers.ts';
export { type ApprovalRule, decideApproval, type ToolHints } from './policy.ts';
