import type { ToolCall } from '../../../core/models/index.ts';
import { AnswerError } from './answer-error.ts';
import { isJsonObjectText } from './arguments.ts';
import type { ToolNames } from './tool-names.ts';

/** A call, or a piece of one. Everything is optional: servers leave out whatever they like. */
export interface CallPiece {
  readonly index?: number | null | undefined;
  readonly id?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly arguments?: string | null | undefined;
}

interface OpenCall {
  readonly index: number | undefined;
  id: string;
  name: string;
  arguments: string;
}

/**
 * Puts the tool calls of one streamed answer together. Rules (MD-9):
 * 1. A piece belongs to the newest call of its index; without an index, to the call of its id, else to the newest.
 * 2. A piece with another id than that call starts a new call: some servers give every call index 0.
 * 3. So does a piece that brings arguments, or another name, when that call is whole: nothing follows a whole object.
 *    What the piece leaves out, id or name, it has from that call.
 * 4. A call that comes again with its id, name and arguments is one call. Same id, other content: a new id.
 * 5. Every call leaves with an id that is unique in the answer; the invented ones depend on the answer alone.
 */
export class CallAssembler {
  readonly #calls: OpenCall[] = [];

  /** Takes the next piece, in the order of the stream. */
  add(piece: CallPiece): void {
    const index = piece.index ?? undefined;
    const id = piece.id ?? '';
    const name = piece.name ?? '';
    const text = piece.arguments ?? '';
    const open = this.#home(index, id);
    if (open === undefined) {
      this.#calls.push({ index, id, name, arguments: text });
      return;
    }
    if (startsNew(open, id, name, text)) {
      // A new name without an id is another call; without a name, it is the same call once more.
      const sameId = name === '' ? open.id : '';
      this.#calls.push({ index, id: id || sameId, name: name || open.name, arguments: text });
      return;
    }
    if (open.id === '') open.id = id;
    if (open.name === '') open.name = name;
    open.arguments += text;
  }

  /** The calls in the order they began. Throws `AnswerError` when one has no name. */
  finish(names: ToolNames): ToolCall[] {
    const given = new Set(this.#calls.map((call) => call.id));
    const used = new Set<string>();
    const calls: ToolCall[] = [];
    for (const call of this.#calls) {
      if (call.name === '') throw new AnswerError('sent a tool call without a name');
      // A call without parameters often comes without arguments.
      const text = call.arguments.trim() === '' ? '{}' : call.arguments;
      const name = names.toHarness(call.name);
      const isRepeat =
        call.id !== '' && calls.some((c) => c.id === call.id && c.name === name && c.arguments === text);
      if (isRepeat) continue;
      const id = uniqueId(call.id, calls.length + 1, given, used);
      used.add(id);
      calls.push({ id, name, arguments: text });
    }
    return calls;
  }

  #home(index: number | undefined, id: string): OpenCall | undefined {
    if (index !== undefined) return this.#calls.findLast((call) => call.index === index);
    return id === '' ? this.#calls.at(-1) : this.#calls.findLast((call) => call.id === id);
  }
}

function startsNew(open: OpenCall, id: string, name: string, text: string): boolean {
  if (id !== '' && open.id !== '' && id !== open.id) return true;
  const bringsMore = text.trim() !== '' || (name !== '' && name !== open.name);
  return bringsMore && isWhole(open.arguments);
}

/** Parsing only what can be whole keeps a long call in pieces of one character from costing its square. */
function isWhole(text: string): boolean {
  return text.trimEnd().endsWith('}') && isJsonObjectText(text);
}

/** The provider's id where it can be used; `call_<n>` when there is none; `<id>_<n>` when it is taken. */
function uniqueId(id: string, n: number, given: ReadonlySet<string>, used: ReadonlySet<string>): string {
  if (id !== '' && !used.has(id)) return id;
  const prefix = id === '' ? 'call' : id;
  for (let i = n; ; i++) {
    const candidate = `${prefix}_${i}`;
    if (!given.has(candidate) && !used.has(candidate)) return candidate;
  }
}
