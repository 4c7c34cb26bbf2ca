import { createHash } from 'node:crypto';
import { decideApproval } from '../../../core/approvals/index.ts';
import { canonicalJson, HarnessError, type JsonObject } from '../../../core/base/index.ts';
import { readQuestion } from '../../../core/extensions/index.ts';
import type { ApprovalDecision, OperationScope } from '../../../core/hooks/index.ts';
import type { CallInput } from '../../../core/loop/index.ts';
import type { TaskRow } from '../../../core/persistence/index.ts';
import type { ToolAnnotations } from '../../../core/tools/index.ts';
import type { ActivityDeps } from './deps.ts';
import { fromJson, type GateRecord, type RememberedEffect, toJson, type VerdictEffect } from './effects.ts';
import { key } from './keys.ts';

/** Digest of a call: what somebody approves is this name with these arguments and no other. */
export function argumentsHash(name: string, args: JsonObject): string {
  return createHash('sha256')
    .update(canonicalJson([name, args]))
    .digest('hex');
}

/** A call as the policy sees it: its arguments are final. */
export interface JudgedCall {
  readonly callId: string;
  readonly name: string;
  readonly arguments: JsonObject;
}

/** What the policy says of a call (PC-12): the rules and what was remembered in this task; `tool.approval` has the last word. */
export function judgeCall(
  deps: ActivityDeps,
  taskId: string,
  call: JudgedCall,
  scope: OperationScope,
): Promise<ApprovalDecision> {
  const { callId, name, arguments: args } = call;
  const input = { callId, name, arguments: args, annotations: annotationsOf(deps, name) };
  return deps.hooks.run('tool.approval', scope, input, {
    async body(given) {
      const ruled = decideApproval(deps.approvals.rules, given);
      if (ruled.decision !== 'ask') return ruled;
      const saved = await deps.journal.store.effects(taskId, [key.remembered(name)]);
      const remembered = fromJson<RememberedEffect>(saved.get(key.remembered(name)));
      if (remembered === undefined) return ruled;
      return remembered.decision === 'approve'
        ? { decision: 'allow' }
        : { decision: 'deny', reason: `${remembered.by} has refused calls of this tool in this task` };
    },
  });
}

/**
 * Checks again, where a call runs, that it may (PC-12): with the arguments it runs with, and by the decision as it is
 * stored, whatever the loop says.
 *
 * @throws HarnessError `tool.denied`.
 */
export async function authorize(
  deps: ActivityDeps,
  task: TaskRow,
  call: JudgedCall,
  decided: CallInput['decided'],
  scope: OperationScope,
): Promise<void> {
  const verdict = decided && (await verdictOf(deps, task, call, decided));
  if (verdict?.decision === 'deny') {
    throw denied(
      verdict.by === null ? 'nobody decided about this call in time' : `${verdict.by} refused this call`,
    );
  }
  const { decision, reason } = await judgeCall(deps, task.id, call, scope);
  if (decision === 'allow') return;
  if (decision === 'deny') throw denied(reason ?? 'a rule refuses this call');
  if (verdict === undefined) throw denied('this call needs an approval that nobody has given');
  if (verdict.argumentsHash !== argumentsHash(call.name, call.arguments)) {
    throw denied('the arguments are not those that were approved');
  }
}

/** The decision about a call, read from the message that made it, checked and kept. The first one stands. */
async function verdictOf(
  deps: ActivityDeps,
  task: TaskRow,
  call: JudgedCall,
  decided: NonNullable<CallInput['decided']>,
): Promise<VerdictEffect> {
  const { store } = deps.journal;
  const known = (await store.effects(task.id, [key.verdict(call.callId)])).get(key.verdict(call.callId));
  if (known !== undefined) return fromJson<VerdictEffect>(known) as VerdictEffect;
  const verdict = await readVerdict(deps, task, call, decided);
  const written = await deps.journal.write(task.id, {
    effect: { key: key.verdict(call.callId), body: toJson(verdict) },
    ...(verdict.remember && verdict.by !== null
      ? {
          effects: [
            {
              key: key.remembered(call.name),
              body: toJson({ decision: verdict.decision, by: verdict.by }),
            },
          ],
        }
      : {}),
  });
  return fromJson<VerdictEffect>(written.effect) ?? verdict;
}

async function readVerdict(
  deps: ActivityDeps,
  task: TaskRow,
  call: JudgedCall,
  { questionId, message }: NonNullable<CallInput['decided']>,
): Promise<VerdictEffect> {
  const { store } = deps.journal;
  const question = await readQuestion(store, task.id, questionId);
  const approval = question?.approval;
  if (question === undefined || approval?.callId !== call.callId) {
    throw denied(`there is no request for the approval of call ${call.callId}`);
  }
  const base = { questionId, callId: call.callId, argumentsHash: approval.argumentsHash };
  if (message === null) return { ...base, decision: 'deny', by: null, remember: false };
  const [row] = await store.inboxRows([message]);
  const verdict = row?.mail.verdict;
  const counts =
    row?.taskId === task.id &&
    row.senderKind === 'human' &&
    question.participantIds.includes(row.sender) &&
    verdict !== undefined &&
    (!verdict.explicit ||
      (verdict.callId === call.callId && verdict.argumentsHash === approval.argumentsHash));
  if (!counts) throw denied('that message is no decision about this call');
  return { ...base, decision: verdict.decision, by: row.sender, remember: verdict.remember };
}

function annotationsOf(deps: ActivityDeps, name: string): ToolAnnotations {
  return deps.intrinsics.get(name)?.annotations ?? deps.tools.get(name)?.annotations ?? {};
}

function denied(why: string): HarnessError {
  return new HarnessError('tool.denied', why);
}

/** What somebody who is to approve a call reads: the call with its exact arguments. */
export function approvalText({ name, arguments: args, reason }: GateRecord): string {
  const lines = [`May the agent call ${name}?`, JSON.stringify(args)];
  return (reason === undefined ? lines : [...lines, reason]).join('\n');
}
