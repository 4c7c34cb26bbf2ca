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
  const outcome = await answerOf(deps, task, row, given, input, run);
  const child =
    outcome.subTask &&
    (await createSubtask(
      deps,
      task,
      { command: input.key },
      {
        ...outcome.subTask,
        description: '',
        acceptanceCriteria: [],
      },
    ));
  const written = await deps.journal.write(task.id, {
    effect: { key: at, body: { child: child ?? null } },
    entries: [
      {
        key: at,
        exchange: input.exchange,
        body: { kind: 'command', inbox: input.key, name: given.name, text: outcome.text },
      },
      ...(outcome.change
        ? [{ key: `data:${input.key}`, exchange: input.exchange, body: { kind: 'task_data' as const } }]
        : []),
    ],
    ...(outcome.change ? { changes: [outcome.change] } : {}),
    consumed: [input.key],
  });
  return spawned(written.task, child);
}

function spawned({ log }: TaskRow, child: unknown): SpawnOutput {
  return typeof child === 'string' ? { log, child } : { log };
}

async function answerOf(
  deps: ActivityDeps,
  task: TaskRow,
  row: InboxRow,
  { name, argument }: { readonly name: string; readonly argument: string },
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
  try {
    const { text } = await deps.hooks.run(
      'command.invoked',
      scope,
      { name, argument, participantId: row.sender },
      {
        async body(final) {
          // Throws how it is used.
          needOf(command, final.argument);
          outcome = await command.run(final.argument, context);
          assertMayChange(outcome.change, caller);
          return { text: outcome.text };
        },
      },
    );
    return { ...outcome, text };
  } catch (error) {
    const said =
      error instanceof HookAbort || (error instanceof HarnessError && error.code.startsWith('input.'));
    if (!said) throw error;
    return { text: messageOf(error) };
  }
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
