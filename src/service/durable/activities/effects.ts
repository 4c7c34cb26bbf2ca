import type { JsonObject, JsonValue } from '../../../core/base/index.ts';
import type { HelpDecision } from '../../../core/hooks/index.ts';
import type { GatedCall } from '../../../core/loop/index.ts';
import type { LlmResponse } from '../../../core/models/index.ts';
import type { CommandRequest } from '../../../core/tools/index.ts';

/** A call after it was gated: what will run, or why nothing will. */
export interface GateRecord extends GatedCall {
  readonly name: string;
  /** The arguments as hooks left them. */
  readonly arguments: JsonObject;
  /** For `help` and `spawn`: what is to be carried out. */
  readonly request?: CommandRequest;
  /** For a call that waits for approval: why somebody has to decide, and whose messages it came from (LP-7). */
  readonly reason?: string;
  readonly actors?: readonly string[];
}

/** What a model turn saves. */
export interface ModelEffect {
  readonly response: LlmResponse;
  readonly calls: readonly GateRecord[];
  readonly decision?: 'complete' | 'wait' | 'fail';
}

/** What the model reads of a call. */
export interface ResultEffect {
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
  /** From outside: shown only inside the untrusted block. */
  readonly untrusted: boolean;
  readonly fingerprint: string;
  readonly data?: JsonValue;
}

/** What somebody decided about a call (PC-12). */
export interface VerdictEffect {
  readonly decision: 'approve' | 'deny';
  /** Who decided; null: the deadline. */
  readonly by: string | null;
  readonly questionId: string;
  readonly callId: string;
  readonly argumentsHash: string;
  readonly remember: boolean;
}

/** A rule that somebody's "remember" added for this task, by the name of the tool. */
export interface RememberedEffect {
  readonly decision: 'approve' | 'deny';
  readonly by: string;
}

type Effect = ModelEffect | ResultEffect | LlmResponse | VerdictEffect | RememberedEffect | HelpDecision;

/** Effects are plain JSON; this says so to the compiler. */
export function toJson(effect: Effect): JsonValue {
  return effect as unknown as JsonValue;
}

/** Reads an effect this program wrote. */
export function fromJson<T extends Effect>(value: JsonValue | undefined): T | undefined {
  return value as unknown as T | undefined;
}
