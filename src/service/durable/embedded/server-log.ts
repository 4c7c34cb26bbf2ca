import { closeSync, fchmodSync, openSync } from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';

const ROTATE_BYTES = 4 * 1024 * 1024;
const TAIL_BYTES = 16 * 1024;
const TAIL_LINES = 15;

/** Lines of a Go stack, behind which the reason of a panic would be out of sight. */
const GO_STACK = /^(\t|goroutine \d|\S+\(.*\)$|created by |\s*$)/;

/** The log file of an embedded server; `0600`, because error lines may quote identifiers. */
export interface ServerLog {
  readonly path: string;
  readonly fd: number;
  close(): void;
  /** The last lines that this run has written. */
  tail(): Promise<string>;
}

/** Opens the log for appending. One that has grown past 4 MB becomes `<path>.1`; the one before that is dropped. */
export async function openServerLog(path: string): Promise<ServerLog> {
  const before = await stat(path).catch(() => undefined);
  const rotate = before !== undefined && before.size > ROTATE_BYTES;
  if (rotate) await rename(path, `${path}.1`);
  const start = rotate ? 0 : (before?.size ?? 0);
  const fd = openSync(path, 'a', 0o600);
  fchmodSync(fd, 0o600);
  return {
    path,
    fd,
    close: () => closeSync(fd),
    async tail() {
      const handle = await open(path);
      try {
        const { size } = await handle.stat();
        const from = Math.max(start, size - TAIL_BYTES);
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - from), 0, size - from, from);
        const lines = buffer.toString('utf8', 0, bytesRead).trim().split('\n');
        return lines
          .filter((line) => !GO_STACK.test(line))
          .slice(-TAIL_LINES)
          .join('\n');
      } finally {
        await handle.close();
      }
    },
  };
}
