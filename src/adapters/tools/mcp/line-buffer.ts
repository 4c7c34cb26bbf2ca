/** Results of 30 MB must pass (DU-9); without a limit a server could fill the memory. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * Cuts a stream of bytes into lines. A line that comes in many pieces is put together once, at its end; the SDK's own
 * buffer does it for every piece (7 s for 30 MB) and ends at 10 MB.
 */
export class LineBuffer {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number = MAX_LINE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that are whole with this chunk. @throws Error when a line is too long; nothing of it is kept. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      lines.push(Buffer.concat(this.#pieces).toString('utf8').replace(/\r$/, ''));
      this.clear();
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    return lines;
  }

  clear(): void {
    this.#pieces = [];
    this.#bytes = 0;
  }

  #keep(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.#maxBytes) {
      this.clear();
      throw new Error(`a line is longer than ${this.#maxBytes} bytes`);
    }
    if (piece.length > 0) this.#pieces.push(piece);
  }
}
