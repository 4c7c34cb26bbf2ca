import { StoreInspector } from '../adapters/store/sqlite/index.ts';
import { HarnessError } from '../core/base/index.ts';
import { isInterrupted } from '../core/loop/index.ts';
import type { InboxRow, LogEntry, TaskRow } from '../core/persistence/index.ts';
import { inertJson, inertLine, planLine, stateWords } from '../interaction/terminal/index.ts';
import { settingsOf } from './settings.ts';

export interface TasksOptions {
  readonly config?: string;
  readonly json?: boolean;
}

export interface ListOptions extends TasksOptions {
  readonly waiting?: boolean;
  /** With `waiting`: only what waits for this participant. */
  readonly participant?: string;
  readonly limit: number;
  readonly after?: string;
}

/** `tiny-harness tasks list`: a page of the store's tasks, whoever they belong to. @throws HarnessError `task.not_found`. */
export async function listTasks({ after, limit, ...options }: ListOptions): Promise<undefined> {
  const { participant } = options;
  if (participant !== undefined && !options.waiting) {
    throw new HarnessError('input.invalid', '--participant says for whom --waiting is; give both');
  }
  using store = StoreInspector.open(settingsOf(options.config).store.sqlitePath);
  const wanted = (task: TaskRow) =>
    isInterrupted(task.state) &&
    (participant === undefined || isGivenTo(task, participant) || asked(store, task, participant).length > 0);
  const { tasks, more } = store.tasks({ limit, after, ...(options.waiting ? { wanted } : {}) });
  for (const task of tasks) {
    const questions = options.waiting ? asked(store, task, participant) : [];
    if (options.json) {
      line(inertJson(JSON.stringify({ ...summary(task), ...(options.waiting ? { questions } : {}) })));
      continue;
    }
    line(taskLine(task));
    for (const each of questions) for (const text of questionLines(task, each)) line(text);
    if (participant !== undefined && isGivenTo(task, participant)) {
      line(`  to do: ${inertLine(task.data.goal)}`);
      line(`  done:  tiny-harness send "..." --task ${task.id} --participant ${inertLine(participant)}`);
    }
  }
  if (more) process.stderr.write(`there are more: --after ${tasks.at(-1)?.id}\n`);
  if (tasks.length === 0 && !options.json) process.stderr.write(`${nothing(options, after)}\n`);
}

/** What a task has asked somebody, or a participant. */
function asked(store: StoreInspector, task: TaskRow, participant: string | undefined): Asked[] {
  return store
    .openQuestions(task)
    .map(({ id, question: { participantIds, text, options, expiresAt } }) => ({
      id,
      participantIds,
      text,
      options,
      expiresAt,
    }))
    .filter(({ participantIds }) => participant === undefined || participantIds.includes(participant));
}

interface Asked {
  readonly id: string;
  readonly participantIds: readonly string[];
  readonly text: string;
  readonly options: readonly string[];
  readonly expiresAt: string | null;
}

function questionLines(task: TaskRow, { id, participantIds, text, options, expiresAt }: Asked): string[] {
  const until = expiresAt === null ? '' : `, until ${expiresAt}`;
  const choice = options.length === 0 ? '' : ` [${options.map(inertLine).join(', ')}]`;
  const who = participantIds[0] ?? '';
  return [
    `  ? to ${participantIds.map(inertLine).join(', ')}${until}: ${inertLine(text)}${choice}`,
    `    tiny-harness send "..." --task ${task.id} --reply-to ${id} --participant ${inertLine(who)}`,
  ];
}

/** True for a task whose work is this participant's (PC-6). */
function isGivenTo({ data, subState }: TaskRow, participant: string): boolean {
  const mine = data.participants.some(({ id, role }) => id === participant && role === 'assignee');
  return mine && data.lifecycle === 'delegated' && subState === null;
}

function nothing(
  { waiting, participant = 'anybody' }: Pick<ListOptions, 'waiting' | 'participant'>,
  after: string | undefined,
): string {
  if (after !== undefined) return 'there are no more';
  return waiting ? `no task waits for ${inertLine(participant)}` : 'the store has no tasks';
}

/** `tiny-harness tasks show`: one task with its plan and its log. @throws HarnessError `task.not_found`. */
export async function showTask(id: string, options: TasksOptions): Promise<undefined> {
  const path = settingsOf(options.config).store.sqlitePath;
  using store = StoreInspector.open(path);
  const task = store.task(id);
  if (task === undefined) {
    throw new HarnessError(
      'task.not_found',
      `there is no task ${id} in ${path}; see "tiny-harness tasks list"`,
    );
  }
  const log = store.log(id);
  if (options.json) {
    line(inertJson(JSON.stringify({ ...summary(task), data: task.data, log })));
    return;
  }
  line(taskLine(task));
  line(`goal: ${inertLine(task.data.goal)}`);
  for (const { id: who, kind, role } of task.data.participants) line(`${role}: ${inertLine(who)} (${kind})`);
  for (const step of task.data.plan?.steps ?? []) line(`  ${planLine(step)}`);
  for (const entry of log) {
    const words = entryWords(entry, (key) => store.inboxRow(key));
    if (words !== undefined) line(`${entry.at}  ${inertLine(words)}`);
  }
}

function summary(task: TaskRow) {
  const { id, contextId, reporter, state, subState, createdAt, updatedAt, data } = task;
  return { id, contextId, name: data.name, reporter, state, subState, createdAt, updatedAt };
}

function taskLine(task: TaskRow): string {
  const words = [
    task.id,
    stateWords(task),
    task.updatedAt,
    inertLine(task.reporter),
    inertLine(task.data.name),
  ];
  return words.join('  ');
}

/** What an entry says to a person; undefined for one that says nothing beside others. */
function entryWords({ body }: LogEntry, inbox: (key: string) => InboxRow | undefined): string | undefined {
  switch (body.kind) {
    case 'message': {
      const row = inbox(body.inbox);
      const parts = row?.message.parts.map((part) =>
        part.kind === 'text' ? part.text : JSON.stringify(part.data),
      );
      return row && `${row.sender}: ${parts?.join(' ')}`;
    }
    case 'state':
      return `- ${stateWords(body)}${body.text === null ? '' : `: ${body.text}`}`;
    case 'question':
      return `? to ${body.question.participantIds.join(', ')}: ${body.question.text}`;
    case 'note':
    case 'response':
      return body.text;
    case 'tool':
      return `${body.phase === 'started' ? '>' : '<'} ${body.name}${body.isError ? ' failed' : ''}`;
    case 'command':
      return `/${body.name}: ${body.text}`;
    case 'task_data':
    case 'turn':
      return undefined;
  }
}

function line(text: string): void {
  process.stdout.write(`${text}\n`);
}
