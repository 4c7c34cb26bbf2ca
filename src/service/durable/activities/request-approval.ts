import { APPROVAL_OPTIONS, approversOf } from '../../../core/approvals/index.ts';
import { HarnessError } from '../../../core/base/index.ts';
import type { CallInput, HelpOutput } from '../../../core/loop/index.ts';
import { answerCall } from './answer-call.ts';
import { approvalText, argumentsHash } from './approval.ts';
import type { ActivityDeps } from './deps.ts';
import { refusalOf } from './gate.ts';
import { callOf, key, taskOf } from './keys.ts';
import { publishQuestion } from './questions.ts';

/** Asks the people who may decide about a call (PC-12), showing it exactly as it would run. With nobody to ask, it is refused. */
export async function requestApproval(deps: ActivityDeps, input: CallInput): Promise<HelpOutput> {
  const task = await taskOf(deps, input);
  const call = await callOf(deps, task, input);
  const approvers = approversOf(task.data, deps.approvals.approvers);
  if (approvers.length === 0) {
    const nobody = new HarnessError(
      'tool.denied',
      'this call needs an approval, and nobody on this task may give it',
    );
    return { log: await answerCall(deps, task, input, refusalOf(call.name, nobody)), tokens: 0 };
  }
  const { deadlineMs } = deps.approvals;
  const published = await publishQuestion(
    deps,
    task,
    `approval:${key.result(input, input.ordinal)}`,
    input.exchange,
    {
      participantIds: approvers,
      text: approvalText(call),
      options: APPROVAL_OPTIONS,
      expiresAt: deadlineMs === undefined ? null : new Date(deps.clock.now() + deadlineMs).toISOString(),
      approval: {
        callId: call.callId,
        tool: call.name,
        arguments: call.arguments,
        argumentsHash: argumentsHash(call.name, call.arguments),
      },
    },
  );
  return { ...published, tokens: 0 };
}
