import { type Command, defineCommand, type WaitingQuestion } from '../../core/commands/index.ts';
import { eitherOf } from './text.ts';

type OpenApproval = WaitingQuestion & { readonly approval: NonNullable<WaitingQuestion['approval']> };

/** `/approvals`: the calls that wait for a decision, with their exact arguments, and how to decide (PC-12). */
export const approvalsCommand: Command = defineCommand({
  name: 'approvals',
  description: 'Show the calls that wait for approval, and how to decide.',
  needs: 'look',
  run(_, { caller, waiting }) {
    const open = waiting.filter((each): each is OpenApproval => each.approval !== null);
    if (open.length === 0) return { text: 'no call waits for approval' };
    const own = open.filter(({ participantIds }) => participantIds.includes(caller.id));
    return { text: open.map((each) => approvalText(each, own)).join('\n\n') };
  },
});

function approvalText(open: OpenApproval, own: readonly OpenApproval[]): string {
  const { id, participantIds, expiresAt, approval } = open;
  const until = expiresAt === null ? '' : `, denied at ${expiresAt}`;
  const how = !own.includes(open)
    ? `only ${eitherOf(participantIds)} can answer`
    : own.length === 1
      ? 'answer approve or deny'
      : `answer approve or deny, in reply to ${id}`;
  return [
    `${approval.tool}, to be approved by ${eitherOf(participantIds)}${until}`,
    `  ${JSON.stringify(approval.arguments, null, 2).replaceAll('\n', '\n  ')}`,
    `  ${how}`,
  ].join('\n');
}
