import { HarnessError, HookAbort, isJsonObject, messageOf } from '../../../core/base/index.ts';
import {
  type CommandContext,
  type CommandOutcome,
  needOf,
  parseCommand,
  type WaitingQuestion,
} from '../../../core/commands/index.ts';
import { readQuestion, textOf } from '../../../core/extensions/index.ts';
import type { CommandRun, Participant, SpawnOutput, TaskChange } from '../../../core/loop/index.ts';
import type { InboxRow, TaskRow } from '../../../core/persistence/index.ts';
import { mayDo, memberOf } from '../../../core/security/index.ts';
import { type ActivityDeps, type Run, scopeOf } from './deps.ts';
import { taskOf } from './keys.ts';
import { createSubtask } from './spawn-subtask.ts';

/**
 * Runs a slash command and records what it answers (SF-5), in one write with what it changes. What it is refused for,
 * or how it is used, is its answer too. Repeated, it finds the answer.
 */
export async function runCommand(deps: ActivityDeps, input: CommandRun, run: Run): Promise<SpawnOutput> {
  const task = await taskOf(deps, input);
  const at = `command:${input.key}`;
  const known = (await deps.journal.store.effects(task.id, [at])).get(at);
  if (isJsonObject(known)) return spawned(task, known.child);
  const [row] = await deps.journal.store.inboxRows([input.key]);
  const given = row && parseCommand(textOf(row.message));
  if (row === undefined || given === undefined)
    throw new HarnessError('internal', `task ${task.id} has no command ${input.key}`);
  const { child, ...outcome } = await answered(deps, task, row, given, input, run);
  const written = await deps.journal.write(task.id, {
    effect: { key: at, body: { child: child ?? null } },
    entries: [
      // Its sender's stream ends with the answer: what it changed comes first.
      ...(outcome.change
        ? [{ key: `data:${input.key}`, exchange: input.exchange, body: { kind: 'task_data' as const } }]
        : []),
      {
        key: at,
        exchange: input.exchange,
        body: { kind: 'command', inbox: input.key, name: given.name, text: outcome.text },
      },
    ],
    ...(outcome.change ? { changes: [outcome.change] } : {}),
    consumed: [input.key],
  });
  return spawned(written.task, child);
}

function spawned({ log }: TaskRow, child: unknown): SpawnOutput {
  return typeof child === 'string' ? { log, child } : { log };
}

interface GivenCommand {
  readonly name: string;
  readonly argument: string;
}

/**
 * What a command comes to, its sub-task started. Whatever it fails with is its answer, unless trying again may help: its
 * sender waits for one.
 */
async function answered(
  deps: ActivityDeps,
  task: TaskRow,
  row: InboxRow,
  given: GivenCommand,
  input: CommandRun,
  run: Run,
): Promise<CommandOutcome & { readonly child?: string }> {
  if (input.failure) return { text: `/${given.name} failed: ${input.failure.message}` };
  try {
    const outcome = await outcomeOf(deps, task, row, given, input, run);
    if (outcome.subTask === undefined) return outcome;
    const spec = { ...outcome.subTask, description: '', acceptanceCriteria: [] };
    return { ...outcome, child: await createSubtask(deps, task, { command: input.key }, spec) };
  } catch (error) {
    if (error instanceof HookAbort) return { text: error.reason };
    if (error instanceof HarnessError && error.retryable) throw error;
    const isAnswer = error instanceof HarnessError && error.code.startsWith('input.');
    return { text: isAnswer ? error.message : `/${given.name} failed: ${messageOf(error)}` };
  }
}

async function outcomeOf(
  deps: ActivityDeps,
  task: TaskRow,
  row: InboxRow,
  { name, argument }: GivenCommand,
  input: CommandRun,
  run: Run,
): Promise<CommandOutcome> {
  const command = deps.commands.get(name);
  const caller = memberOf(task.data, row.sender);
  if (command === undefined) return { text: `this agent has no command /${name}` };
  if (caller === undefined) return { text: 'you are not on this task' };
  const context: CommandContext = {
    agentId: deps.agentId,
    taskId: task.id,
    caller,
    state: task.state,
    subState: task.subState,
    data: task.data,
    waiting: await waitingOf(deps, task.id, input.openQuestions),
    models: { default: deps.llm.model, selectable: deps.selectableModels },
    defaultEffort: deps.effort ?? null,
  };
  const scope = scopeOf(deps, task, input.exchange, run, { kind: 'command', id: name, version: null });
  let outcome: CommandOutcome | undefined;
  const invoked = { name, argument, participantId: row.sender };
  const { text } = await deps.hooks.run('command.invoked', scope, invoked, {
    async body(final) {
      // Throws how it is used. What its sender is may have changed since it was admitted.
      const need = needOf(command, final.argument);
      if (!mayDo(caller.role, need === 'look' ? 'read' : need)) {
        throw new HarnessError('input.unsupported', `a ${caller.role} may not give /${name} here`);
      }
      outcome = await command.run(final.argument, context);
      assertMayChange(outcome.change, caller);
      return { text: outcome.text };
    },
  });
  return { ...outcome, text };
}

/** Membership is for admins, whichever way it is changed (PC-10). */
function assertMayChange(change: TaskChange | undefined, { role }: Participant): void {
  const members = change?.kind === 'role' || (change?.kind === 'set' && change.participants !== undefined);
  if (members && !mayDo(role, 'roles')) {
    throw new HarnessError('input.unsupported', `a ${role} may not change who is on the task; an admin may`);
  }
}

async function waitingOf(
  deps: ActivityDeps,
  taskId: string,
  ids: readonly string[],
): Promise<WaitingQuestion[]> {
  const waiting: WaitingQuestion[] = [];
  for (const id of ids) {
    const question = await readQuestion(deps.journal.store, taskId, id);
    if (question === undefined) continue;
    const { text, participantIds, expiresAt, approval } = question;
    waiting.push({
      id,
      text,
      participantIds,
      expiresAt,
      approval: approval ? { tool: approval.tool, arguments: approval.arguments } : null,
    });
  }
  return waiting;
}
