import { type AbortSignalLike, type JsonObject, ProviderError } from '../core/base/index.ts';
import type {
  LlmEvent,
  LlmFinish,
  LlmPort,
  LlmRequest,
  LlmResponse,
  LlmUsage,
  ToolCall,
} from '../core/models/index.ts';
import { proposedHelp } from './help-decision.ts';

/** A tool call of a script. Arguments given as a string are passed on as they are, broken ones included. */
export interface ScriptedCall {
  readonly name: string;
  readonly arguments: JsonObject | string;
  /** Default `call_<number of the request>_<position>`, both from 1. */
  readonly id?: string;
}

/** One answer of a script. */
export interface ScriptedReply {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  /** Milliseconds before the first event. */
  readonly delayMs?: number;
  /** Characters in one piece of text; default 16. */
  readonly chunkSize?: number;
  /** Milliseconds before each piece of text but the first. */
  readonly chunkDelayMs?: number;
  /** Thrown instead of the end of the answer, after its text. */
  readonly error?: Error;
  /** Default `tool_calls` when there are calls, else `stop`. With `length` or `refusal` no call is emitted. */
  readonly finish?: LlmFinish;
  readonly usage?: Partial<LlmUsage>;
}

/** The answers in order, or a function of the request and its number (from 1). */
export type Script =
  | readonly ScriptedReply[]
  | ((request: LlmRequest, callNumber: number) => ScriptedReply | Promise<ScriptedReply>);

/** A scripted answer of text alone. */
export function reply(text: string, rest: Omit<ScriptedReply, 'text'> = {}): ScriptedReply {
  return { ...rest, text };
}

/** A scripted answer with one tool call. */
export function call(
  name: string,
  args: JsonObject | string = {},
  rest: Omit<ScriptedReply, 'calls'> = {},
): ScriptedReply {
  return { ...rest, calls: [{ name, arguments: args }] };
}

export interface ScriptedLlmOptions {
  readonly model?: string;
  readonly contextWindow?: number;
  /** Decides how a participant is reached (PC-7), given the proposal as JSON. Default: as proposed. */
  readonly decideHelp?: (proposal: string, request: LlmRequest) => ScriptedReply;
}

/**
 * A model that answers from a script (MD-8): streams its text in pieces, with the delays and failures the script
 * asks for, and stops at once when the signal aborts. Usage that the script does not give is estimated at four
 * characters a token.
 */
export class ScriptedLlm implements LlmPort {
  readonly description: string;
  readonly model: string;
  readonly contextWindow?: number;
  /** Every request, oldest first, those that failed included. */
  readonly requests: LlmRequest[] = [];
  /** Requests that decide how a participant is reached (PC-7), oldest first. They are no part of the script. */
  readonly helpRequests: LlmRequest[] = [];
  readonly #script: Script;
  readonly #decideHelp: ScriptedLlmOptions['decideHelp'];

  constructor(script: Script, options: ScriptedLlmOptions = {}) {
    this.#script = script;
    this.#decideHelp = options.decideHelp;
    this.model = options.model ?? 'scripted';
    this.description = `model endpoint scripted: api=scripted model=${this.model}`;
    if (options.contextWindow !== undefined) this.contextWindow = options.contextWindow;
  }

  async *stream(request: LlmRequest, signal: AbortSignalLike): AsyncGenerator<LlmEvent, void, undefined> {
    if (signal.aborted) throw signal.reason;
    const proposal = proposedHelp(request);
    const callNumber = (proposal === undefined ? this.requests : this.helpRequests).push(request);
    const scripted =
      proposal === undefined
        ? await this.#reply(request, callNumber)
        : (this.#decideHelp?.(proposal, request) ?? reply(proposal));
    await pause(scripted.delayMs ?? 0, signal);
    const pieces = piecesOf(scripted.text ?? '', scripted.chunkSize ?? 16);
    for (const [position, delta] of pieces.entries()) {
      if (position > 0) await pause(scripted.chunkDelayMs ?? 0, signal);
      yield { type: 'text', delta };
      if (signal.aborted) throw signal.reason;
    }
    if (scripted.error !== undefined) throw scripted.error;
    const model = request.model ?? this.model;
    yield { type: 'done', response: responseOf(scripted, request, callNumber, model) };
  }

  async #reply(request: LlmRequest, callNumber: number): Promise<ScriptedReply> {
    if (typeof this.#script === 'function') return this.#script(request, callNumber);
    const scripted = this.#script[callNumber - 1];
    if (scripted !== undefined) return scripted;
    const last = JSON.stringify(request.input.at(-1) ?? null).slice(0, 200);
    // A ProviderError, so that nobody tries again and again.
    throw new ProviderError(
      `ScriptedLlm: the script has ${this.#script.length} replies and this is request ${callNumber}; add a reply, or use a function. Last input item: ${last}`,
    );
  }
}

function responseOf(
  scripted: ScriptedReply,
  request: LlmRequest,
  callNumber: number,
  model: string,
): LlmResponse {
  const text = scripted.text ?? '';
  const scriptedCalls = scripted.calls ?? [];
  const finish = scripted.finish ?? (scriptedCalls.length > 0 ? 'tool_calls' : 'stop');
  const calls = finish === 'length' || finish === 'refusal' ? [] : callsOf(scriptedCalls, callNumber);
  const usage: LlmUsage = {
    input: tokens(JSON.stringify([request.instructions, request.input])),
    cached: 0,
    output: tokens(text + JSON.stringify(calls)),
    reasoning: 0,
    ...scripted.usage,
  };
  return { text, calls, usage, model, finish };
}

function callsOf(scripted: readonly ScriptedCall[], callNumber: number): ToolCall[] {
  return scripted.map((one, position) => ({
    id: one.id ?? `call_${callNumber}_${position + 1}`,
    name: one.name,
    arguments: typeof one.arguments === 'string' ? one.arguments : JSON.stringify(one.arguments),
  }));
}

function tokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** Whole code points, so that a piece never ends inside one. */
function piecesOf(text: string, size: number): string[] {
  const points = Array.from(text);
  const step = Math.max(1, size);
  return Array.from({ length: Math.ceil(points.length / step) }, (_, i) =>
    points.slice(i * step, (i + 1) * step).join(''),
  );
}

/** Waits, or rejects with the signal's reason as soon as it aborts. */
async function pause(ms: number, signal: AbortSignalLike): Promise<void> {
  if (ms <= 0 && !signal.aborted) return;
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
  });
}
