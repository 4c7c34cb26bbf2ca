import type { Logger } from '../../core/base/index.ts';

/** One event of a stream: JSON text, its id when it is durable, its type when it is not `message`. */
export interface SseEvent {
  readonly data: string;
  readonly id?: number | undefined;
  readonly type?: string;
}

export interface SseOptions {
  /** How often a silent stream says that it lives (milliseconds). */
  readonly heartbeatMs?: number;
  /** How long a reader may take nothing of what waits for it (milliseconds). */
  readonly stallMs?: number;
  readonly logger: Logger;
}

const HEARTBEAT_MS = 15_000;
const STALL_MS = 30_000;

/** What may wait for a reader before its source is asked for more. */
const QUEUE_BYTES = 64 * 1024;

/**
 * Writes events as server-sent events. The reader's pace is the source's pace: no more is asked for while 64 KiB wait.
 * A reader that takes nothing of it for a while is dropped; it may resume from the last id it has. `cancel` is called
 * once the reader is gone.
 */
export function sseBody(
  events: AsyncIterator<SseEvent>,
  cancel: () => void,
  { heartbeatMs = HEARTBEAT_MS, stallMs = STALL_MS, logger }: SseOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let beat: NodeJS.Timeout | undefined;
  let stall: NodeJS.Timeout | undefined;
  const over = () => {
    clearInterval(beat);
    clearTimeout(stall);
  };
  const leave = () => {
    over();
    cancel();
    // A source that waits to be asked for more hears of the end by this alone.
    events.return?.().catch(() => {});
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        beat = setInterval(() => {
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(': alive\n\n'));
        }, heartbeatMs);
        beat.unref();
      },
      async pull(controller) {
        clearTimeout(stall);
        try {
          const next = await events.next();
          if (next.done === true) {
            over();
            controller.close();
            return;
          }
          controller.enqueue(encoder.encode(written(next.value)));
          // Asked for again at once, unless too much waits.
          stall = setTimeout(() => {
            logger.info('a reader was dropped: it took nothing of its stream', { stallMs });
            controller.error(new DOMException(`the reader took nothing for ${stallMs} ms`, 'AbortError'));
            leave();
          }, stallMs);
          stall.unref();
        } catch (error) {
          over();
          controller.error(error);
        }
      },
      cancel: leave,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: QUEUE_BYTES }),
  );
}

function written({ data, id, type }: SseEvent): string {
  return `${type === undefined ? '' : `event: ${type}\n`}${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
}
