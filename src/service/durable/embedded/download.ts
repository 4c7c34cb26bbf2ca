import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { messageOf } from '../../../core/base/index.ts';

/** Once bytes have come, a pause longer than this ends the download. */
const STALL_MS = 15_000;
/** A progress line for each of these steps, in percent. */
const STEP_PERCENT = 25;

export interface DownloadOptions {
  /** Milliseconds until the first byte of the answer's body must be here. */
  readonly answerTimeoutMs: number;
  readonly onProgress: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Downloads `url` (http or https, redirects followed) to `file`; gives the SHA-256 of what came, in hex. */
export async function download(url: string, file: string, options: DownloadOptions): Promise<string> {
  const stall = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stall.signal]) : stall.signal;
  const within = (ms: number): NodeJS.Timeout =>
    setTimeout(() => stall.abort(new Error(`no answer within ${ms / 1000} s`)), ms);
  let timer = within(options.answerTimeoutMs);
  const handle = await open(file, 'wx', 0o600);
  try {
    const response = await fetch(url, { signal });
    if (!response.ok || response.body === null) throw new Error(`it answered ${response.status}`);
    const progress = progressLines(Number(response.headers.get('content-length')), options.onProgress);
    const hash = createHash('sha256');
    for await (const chunk of response.body) {
      clearTimeout(timer);
      timer = within(STALL_MS);
      hash.update(chunk);
      await handle.writeFile(chunk);
      progress(chunk.byteLength);
    }
    return hash.digest('hex');
  } catch (error) {
    options.signal?.throwIfAborted();
    throw stall.signal.aborted ? stall.signal.reason : plain(error);
  } finally {
    clearTimeout(timer);
    await handle.close();
  }
}

/** `fetch` says "fetch failed"; what happened is in its cause. */
function plain(error: unknown): Error {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return new Error(messageOf(cause) || code || 'the download failed', { cause: error });
}

function progressLines(total: number, onProgress: (line: string) => void): (bytes: number) => void {
  let done = 0;
  let next = STEP_PERCENT;
  return (bytes) => {
    done += bytes;
    if (!(total > 0)) return;
    const percent = Math.floor((done / total) * 100);
    if (percent < next) return;
    onProgress(`${percent} % of ${(total / 1e6).toFixed(0)} MB`);
    next = (Math.floor(percent / STEP_PERCENT) + 1) * STEP_PERCENT;
  };
}
