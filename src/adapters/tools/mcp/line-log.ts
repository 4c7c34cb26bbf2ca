import { StringDecoder } from 'node:string_decoder';

const MAX_LINE = 2000;
const KEPT_LINES = 5;

/**
 * Splits what a server writes to stderr into lines as it comes. A line is cut at 2,000 characters and only the last
 * few are kept (for error messages), so a flood costs time, not memory.
 */
export class LineLog {
  /** The last few lines, oldest first. */
  readonly last: string[] = [];
  readonly #decoder = new StringDecoder('utf8');
  readonly #onLine: (line: string) => void;
  #partial = '';
  #dropped = 0;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  write(chunk: Buffer): void {
    const parts = this.#decoder.write(chunk).split('\n');
    parts.forEach((part, at) => {
      const room = MAX_LINE - this.#partial.length;
      this.#partial += part.slice(0, room);
      this.#dropped += Math.max(0, part.length - room);
      if (at < parts.length - 1) this.end();
    });
  }

  /** Ends the line that is being written; also for the last line of a stream. */
  end(): void {
    const cut = this.#dropped > 0 ? ` [cut: ${this.#dropped} more characters]` : '';
    const line = this.#partial.replace(/\r$/, '') + cut;
    this.#partial = '';
    this.#dropped = 0;
    if (line === '') return;
    this.last.push(line);
    if (this.last.length > KEPT_LINES) this.last.shift();
    this.#onLine(line);
  }
}
