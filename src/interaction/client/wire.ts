import { type Message, TaskState as WireState } from '@a2a-js/sdk';
import { isJsonObject } from '../../core/base/index.ts';
import { type ChannelMessage, channelMessage, MEDIA_TYPE, METADATA } from '../../core/extensions/index.ts';
import type { StepState, TaskState } from '../../core/loop/index.ts';
import type { Question, Step } from './happening.ts';

type Metadata = Readonly<Record<string, unknown>> | undefined;

const STEP_STATES: readonly StepState[] = ['pending', 'active', 'done', 'failed'];

/** A2A's state without its prefix. */
export function stateOf(state: WireState | undefined): TaskState {
  return WireState[state ?? WireState.TASK_STATE_SUBMITTED].replace('TASK_STATE_', '') as TaskState;
}

/** The text parts of a message. */
export function textOf(message: Message): string {
  return message.parts
    .flatMap((part) => (part.content?.$case === 'text' ? [part.content.value] : []))
    .join('\n');
}

/** The questions a message carries as channel parts. */
export function questionsOf(message: Message | undefined): Question[] {
  return (message?.parts ?? []).flatMap((part): Question[] => {
    if (part.mediaType !== MEDIA_TYPE.channel || part.content?.$case !== 'data') return [];
    const parsed = channelMessage.safeParse(part.content.value);
    if (!parsed.success || parsed.data.kind !== 'help_request') return [];
    const { text, parts } = parsed.data;
    const details = parts.find((each) => each.kind === 'data' && each.media_type === MEDIA_TYPE.question);
    const data = details?.kind === 'data' && isJsonObject(details.data) ? details.data : {};
    const id = typeof data.question_id === 'string' ? data.question_id : (message?.messageId ?? '');
    const participantId = typeof data.participant_id === 'string' ? data.participant_id : '';
    return [
      { id, participantIds: approversIn(parts) ?? [participantId], text, options: texts(data.options) },
    ];
  });
}

/** Who may decide about a call; undefined for a question that is no approval. */
function approversIn(parts: ChannelMessage['parts']): string[] | undefined {
  const call = parts.find((each) => each.kind === 'data' && each.media_type === MEDIA_TYPE.approval);
  return call?.kind === 'data' && isJsonObject(call.data) ? texts(call.data.approvers) : undefined;
}

/** The plan in the task data of some metadata; undefined when there is no task data, empty when there is no plan. */
export function planOf(metadata: Metadata): Step[] | undefined {
  const data = metadata?.[METADATA.task];
  if (!isJsonObject(data)) return undefined;
  const steps = isJsonObject(data.plan) ? data.plan.steps : [];
  return Array.isArray(steps) ? steps.flatMap(stepOf) : [];
}

function stepOf(step: unknown): Step[] {
  if (!isJsonObject(step) || typeof step.id !== 'string') return [];
  const state = STEP_STATES.find((each) => each === step.state) ?? 'pending';
  const name = typeof step.name === 'string' ? step.name : step.id;
  const output = typeof step.output === 'string' ? step.output : null;
  return [{ id: step.id, name, dependsOn: texts(step.depends_on), state, output }];
}

/** Why a task waits. */
export function subStateOf(metadata: Metadata): string | null {
  const status = metadata?.[METADATA.status];
  return isJsonObject(status) && typeof status.sub_state === 'string' ? status.sub_state : null;
}

/** The start or end of a tool in a progress update. */
export function toolOf(
  metadata: Metadata,
): { readonly phase: 'started' | 'finished' | 'failed'; readonly name: string } | undefined {
  const progress = metadata?.[METADATA.progress];
  if (!isJsonObject(progress) || typeof progress.activity !== 'string') return undefined;
  if (progress.phase === 'tool_started') return { phase: 'started', name: progress.activity };
  if (progress.phase === 'tool_finished') return { phase: 'finished', name: progress.activity };
  if (progress.phase === 'tool_failed') return { phase: 'failed', name: progress.activity };
  return undefined;
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
