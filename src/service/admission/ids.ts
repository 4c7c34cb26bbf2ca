import { createHash, randomUUID } from 'node:crypto';

/** Digest of what names a message; the key of its inbox row and the id of the update that delivers it. */
export function inboxKey(sender: string, messageId: string): string {
  return digest('inbox', sender, messageId).toString('hex').slice(0, 32);
}

/**
 * The id of the task that a first message opens, in UUID form: the same message always opens the same task, on every
 * server and after every restart (AS-10). Knowing it opens nothing.
 */
export function derivedTaskId(agentId: string, sender: string, messageId: string): string {
  return uuidFrom(digest('task', agentId, sender, messageId));
}

/** The context a first message opens when it names none: as stable as its task's id. */
export function derivedContextId(taskId: string): string {
  return uuidFrom(digest('context', taskId));
}

export { randomUUID as randomTaskId };

function digest(...parts: readonly string[]): Buffer {
  const hash = createHash('sha256');
  // Lengths keep ("ab", "c") and ("a", "bc") apart.
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest();
}

/** The first 16 bytes as a UUID of version 8 (made by the application). */
function uuidFrom(bytes: Buffer): string {
  const id = Buffer.from(bytes.subarray(0, 16));
  id[6] = ((id[6] ?? 0) & 0x0f) | 0x80;
  id[8] = ((id[8] ?? 0) & 0x3f) | 0x80;
  const hex = id.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
