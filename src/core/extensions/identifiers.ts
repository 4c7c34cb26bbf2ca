const ROOT = 'https://madarauchiha-314.github.io/tiny-harness/a2a/ext';
const KEY = 'io.github.madarauchiha-314.tiny-harness';
const MEDIA = 'application/vnd.tiny-harness';

/** URIs of the A2A extensions, in the order in which the card lists them. */
export const EXTENSION = {
  task: `${ROOT}/task/v1`,
  channel: `${ROOT}/channel/v1`,
  status: `${ROOT}/status/v1`,
  commands: `${ROOT}/commands/v1`,
  progress: `${ROOT}/progress/v1`,
} as const;

/** Keys in the metadata of tasks and updates. */
export const METADATA = {
  task: `${KEY}/task`,
  status: `${KEY}/status`,
  progress: `${KEY}/progress`,
} as const;

/** Media types of our own parts. */
export const MEDIA_TYPE = {
  task: `${MEDIA}.task+json`,
  channel: `${MEDIA}.channel+json`,
  event: `${MEDIA}.event+json`,
  question: `${MEDIA}.question+json`,
  approval: `${MEDIA}.approval+json`,
} as const;

/** Message id of a status message, and of a question (which is the question's id). */
export const messageId = {
  status: (taskId: string, seq: number) => `${taskId}:status:${seq}`,
  help: (taskId: string, seq: number) => `${taskId}:help:${seq}`,
  note: (taskId: string, seq: number) => `${taskId}:note:${seq}`,
  command: (taskId: string, seq: number) => `${taskId}:command:${seq}`,
} as const;

/** The sequence in a question's id; undefined when the id is not a question of this task. */
export function questionSeq(taskId: string, id: string): number | undefined {
  const prefix = `${taskId}:help:`;
  const seq = id.startsWith(prefix) ? Number(id.slice(prefix.length)) : Number.NaN;
  return Number.isSafeInteger(seq) && seq > 0 ? seq : undefined;
}
