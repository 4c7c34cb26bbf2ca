import type {
  Message,
  StreamResponse,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
} from '@a2a-js/sdk';
import { questionText } from '../../core/extensions/index.ts';
import { isInterrupted, isTerminal, type TaskState } from '../../core/loop/index.ts';
import type { Ending, Happening, Question, Step } from './happening.ts';
import { planOf, questionsOf, stateOf, subStateOf, textOf, toolOf } from './wire.ts';

/**
 * Folds the responses of a task's streams into happenings.
 *
 * 1. A message is told once, whatever number of snapshots, updates and artifacts carry it: by its id, and a text also
 *    by being what was just generated.
 * 2. What the first snapshot holds was there before the message that is followed, and is not told.
 * 3. It is settled when the task ended, or waits again after the message that is followed; only updates and later
 *    snapshots can say so.
 */
export class TaskReader {
  #taskId: string | undefined;
  #state: TaskState = 'SUBMITTED';
  #subState: string | null = null;
  #since: string | undefined;
  #settled = false;
  #refused = false;
  #plan: readonly Step[] = [];
  #questions: readonly Question[] = [];
  readonly #told = new Set<string>();
  /** The text that is being generated; undefined when none is, or its beginning was missed. */
  #open: string | undefined;
  /** The last text that was told to its end. */
  #last: string | undefined;

  get taskId(): string | undefined {
    return this.#taskId;
  }

  get settled(): boolean {
    return this.#settled;
  }

  get ending(): Ending {
    return {
      taskId: this.#taskId ?? '',
      state: this.#state,
      subState: this.#subState,
      questions: this.#questions,
      plan: this.#plan,
      refused: this.#refused,
    };
  }

  /** The connection broke: what comes next is no continuation of a text that was under way. */
  interrupted(): void {
    this.#open = undefined;
  }

  read({ payload }: StreamResponse): Happening[] {
    switch (payload?.$case) {
      case 'task':
        return this.snapshot(payload.value);
      case 'statusUpdate':
        return this.#status(payload.value);
      case 'artifactUpdate':
        return this.#artifact(payload.value);
      case 'message':
        return [{ kind: 'other', name: 'a message without a task' }];
      default:
        return [{ kind: 'other', name: 'an event of an unknown kind' }];
    }
  }

  snapshot(task: Task): Happening[] {
    const { status } = task;
    const state = stateOf(status?.state);
    const first = this.#taskId === undefined;
    this.#taskId = task.id;
    if (first) {
      for (const { messageId } of task.history) this.#told.add(messageId);
      if (status?.message) this.#told.add(status.message.messageId);
      this.#plan = planOf(task.metadata) ?? [];
      this.#questions = questionsOf(status?.message);
      this.#since = status?.timestamp;
      this.#state = state;
      this.#subState = subStateOf(task.metadata);
      return [{ kind: 'task', taskId: task.id, contextId: task.contextId, state }];
    }
    const isNew = status?.timestamp !== this.#since;
    const told = [...this.#planned(task.metadata), ...this.#moved(state, subStateOf(task.metadata))];
    if (status?.message) told.push(...this.#message(status.message, state));
    this.#settled ||= isTerminal(state) || (isNew && isInterrupted(state));
    return told;
  }

  #status({ status, metadata }: TaskStatusUpdateEvent): Happening[] {
    const state = stateOf(status?.state);
    const tool = toolOf(metadata);
    const told: Happening[] = [
      ...this.#planned(metadata),
      ...(tool ? [{ kind: 'tool' as const, ...tool }] : []),
    ];
    // An update that brings data alone repeats the state, leaves the sub-state out, and settles nothing.
    const hasData = tool !== undefined || planOf(metadata) !== undefined;
    const isBare = hasData && status?.message === undefined && state === this.#state;
    const moved = isBare ? [] : this.#moved(state, subStateOf(metadata));
    const message = status?.message ? this.#message(status.message, state) : [];
    if (!isBare) this.#settled ||= isTerminal(state) || isInterrupted(state);
    return [...told, ...message, ...moved];
  }

  #moved(state: TaskState, subState: string | null): Happening[] {
    if (state === this.#state && subState === this.#subState) return [];
    this.#state = state;
    this.#subState = subState;
    return [{ kind: 'state', state, subState }];
  }

  #planned(metadata: TaskStatusUpdateEvent['metadata']): Happening[] {
    const steps = planOf(metadata);
    if (steps === undefined) return [];
    const before = new Map(this.#plan.map((step) => [step.id, step]));
    const changed = steps.filter((step) => {
      const known = before.get(step.id);
      return known?.state !== step.state || known.output !== step.output;
    });
    const dropped = this.#plan.length > steps.length;
    this.#plan = steps;
    return changed.length > 0 || dropped
      ? [{ kind: 'plan', steps, changed: changed.map(({ id }) => id) }]
      : [];
  }

  #message(message: Message, state: TaskState): Happening[] {
    const questions = questionsOf(message);
    if (isInterrupted(state) || isTerminal(state)) this.#questions = questions;
    const asked = questions.filter(({ id }) => !this.#told.has(id));
    for (const { id } of asked) this.#told.add(id);
    const told: Happening[] = asked.map((question) => ({ kind: 'question', question }));
    if (this.#told.has(message.messageId)) return told;
    this.#told.add(message.messageId);
    const text = textOf(message);
    if (message.messageId.startsWith(`${message.taskId}:refusal:`)) {
      this.#refused = true;
      return [{ kind: 'refused', reason: text }];
    }
    const isTold = this.#open === undefined && text === this.#last;
    if (text.trim() === '' || isTold || text === wordsOf(questions)) return told;
    const isReply = !isTerminal(state) || state === 'COMPLETED';
    return [...(isReply ? this.#whole(text) : [{ kind: 'notice' as const, text }]), ...told];
  }

  #artifact({ artifact, append, lastChunk }: TaskArtifactUpdateEvent): Happening[] {
    const id = artifact?.artifactId ?? '';
    if (!id.startsWith('response:')) return [{ kind: 'other', name: artifact?.name || id || 'an artifact' }];
    const text = (artifact?.parts ?? [])
      .flatMap((part) => (part.content?.$case === 'text' ? [part.content.value] : []))
      .join('');
    if (lastChunk) return this.#open === undefined && text === this.#last ? [] : this.#whole(text);
    if (append && this.#open === undefined) return [];
    const start = !append;
    this.#open = start ? text : `${this.#open}${text}`;
    return [{ kind: 'text', text, start }];
  }

  /** A text that is known to its end: what of it was not told while it was generated is told now. */
  #whole(text: string): Happening[] {
    const shown = this.#open ?? '';
    this.#open = undefined;
    this.#last = text;
    const end: Happening = { kind: 'text_end', text };
    if (shown === text) return [end];
    const rest: Happening =
      shown !== '' && text.startsWith(shown)
        ? { kind: 'text', text: text.slice(shown.length), start: false }
        : { kind: 'text', text, start: true };
    return [rest, end];
  }
}

/** What a status message says when all it says is what is asked. */
function wordsOf(questions: readonly Question[]): string {
  return questions.map((question) => questionText({ ...question, expiresAt: null })).join('\n\n');
}
