import { HarnessError } from '../../../core/base/index.ts';
import type { CallInput, Participant, SpawnOutput, TaskData } from '../../../core/loop/index.ts';
import type { TaskRow } from '../../../core/persistence/index.ts';
import { answerCall } from './answer-call.ts';
import { authorize } from './approval.ts';
import { type ActivityDeps, type Run, scopeOf } from './deps.ts';
import { isModelsFault, refusalOf, resultOf } from './gate.ts';
import { callOf, key, taskOf } from './keys.ts';
import { parentOf } from './sub-tasks.ts';

/** How deep sub-tasks may stand below each other. */
const MAX_DEPTH = 8;

/** What becomes a task of its own. */
export interface SubtaskSpec {
  readonly name: string;
  readonly goal: string;
  readonly description: string;
  readonly acceptanceCriteria: readonly string[];
  readonly step?: string;
  /** The participant who is to do it; absent: this agent. */
  readonly assignee?: string;
}

/** Makes a part of the work a sub-task of this agent (ST-1). Repeated, it finds the one it made. */
export async function spawnSubtask(deps: ActivityDeps, input: CallInput, run: Run): Promise<SpawnOutput> {
  const task = await taskOf(deps, input);
  const call = await callOf(deps, task, input);
  if (call.request?.command !== 'spawn') {
    throw new HarnessError('internal', `call ${call.callId} of task ${task.id} spawns nothing`);
  }
  const scope = scopeOf(deps, task, input.exchange, run, { kind: 'intrinsic', id: call.name, version: null });
  try {
    await authorize(deps, task, call, input.decided, scope);
    const child = await createSubtask(deps, task, input, call.request);
    const text = `sub-task ${child} ("${call.request.name}") runs; its result comes as a message`;
    return { child, log: await answerCall(deps, task, input, resultOf(call.name, text, false)) };
  } catch (error) {
    if (!isModelsFault(error)) throw error;
    return { log: await answerCall(deps, task, input, refusalOf(call.name, error)) };
  }
}

/**
 * Creates a sub-task, starts it and links it on its parent; returns its id. It enters like any task, with the agent as
 * its sender, so a crash between the two leaves what a redelivery starts.
 *
 * @throws HarnessError `tool.failed` for a task that stands too deep, HookAbort.
 */
export async function createSubtask(
  deps: ActivityDeps,
  parent: TaskRow,
  at: Pick<CallInput, 'exchange' | 'turn' | 'ordinal'> | { readonly command: string },
  spec: SubtaskSpec,
): Promise<string> {
  if ((await depthOf(deps, parent)) >= MAX_DEPTH) {
    throw new HarnessError('tool.failed', `a task may stand at most ${MAX_DEPTH} levels below the first`);
  }
  const origin = 'command' in at ? `command:${at.command}` : key.result(at, at.ordinal);
  const child = await deps.admission.open({
    messageId: `${parent.id}:${origin}`,
    contextId: parent.contextId,
    text: briefOf(spec),
    data: dataOf(deps, parent, spec),
  });
  await deps.journal.write(parent.id, {
    changes: [
      {
        kind: 'sub_task',
        link: { taskId: child, agent: null, state: null, subState: null },
        ...(spec.step === undefined ? {} : { step: spec.step }),
      },
    ],
    entries: [{ key: `sub_task:${child}`, exchange: 0, body: { kind: 'task_data' } }],
  });
  return child;
}

function dataOf(deps: ActivityDeps, parent: TaskRow, spec: SubtaskSpec): TaskData {
  return {
    name: spec.name,
    goal: spec.goal,
    type: null,
    description: spec.description,
    acceptanceCriteria: spec.acceptanceCriteria.map((text) => ({ text, met: false })),
    participants:
      spec.assignee === undefined ? parent.data.participants : membersFor(deps, parent, spec.assignee),
    parentTasks: [{ taskId: parent.id, agent: null, state: null, subState: null }],
    subTasks: [],
    plan: null,
    lifecycle: 'delegated',
    model: parent.data.model,
    reasoningEffort: parent.data.reasoningEffort,
  };
}

/** PC-6: the participant does it, the agent and whoever gave the parent look on. */
function membersFor(deps: ActivityDeps, parent: TaskRow, assignee: string): Participant[] {
  return parent.data.participants.flatMap((member): Participant[] => {
    if (member.id === assignee) return [{ ...member, role: 'assignee' }];
    return member.id === deps.agentId || member.role === 'reporter' ? [{ ...member, role: 'watcher' }] : [];
  });
}

function briefOf({ goal, description, acceptanceCriteria }: SubtaskSpec): string {
  const criteria = acceptanceCriteria.map((text) => `- ${text}`);
  const parts = [goal, description, criteria.length === 0 ? '' : `Done when:\n${criteria.join('\n')}`];
  return parts.filter((part) => part !== '').join('\n\n');
}

async function depthOf(deps: ActivityDeps, task: TaskRow): Promise<number> {
  let depth = 0;
  for (let above = await parentOf(deps, task); above; above = await parentOf(deps, above)) depth += 1;
  return depth;
}
