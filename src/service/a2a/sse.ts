/** One event of a stream: JSON text, and its id when it is durable. */
export interface SseEvent {
  readonly data: string;
  readonly id: number | undefined;
}

/** How often a silent stream says that it lives. */
const HEARTBEAT_MS = 15_000;

/**
 * Writes events as server-sent events. The reader's pace is the source's pace: the next event is asked for when the
 * last one was taken. `cancel` is called when the reader goes away.
 */
export function sseBody(events: AsyncIterator<SseEvent>, cancel: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let beat: NodeJS.Timeout | undefined;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      beat = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(': alive\n\n'));
      }, HEARTBEAT_MS);
      beat.unref();
    },
    async pull(controller) {
      try {
        const next = await events.next();
        if (next.done === true) {
          clearInterval(beat);
          controller.close();
          return;
        }
        const { data, id } = next.value;
        controller.enqueue(encoder.encode(`${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`));
      } catch (error) {
        clearInterval(beat);
        controller.error(error);
      }
    },
    cancel() {
      clearInterval(beat);
      cancel();
    },
  });
}
