import type { JsonObject, JsonValue } from '../../../core/base/index.ts';
import type { GatedCall } from '../../../core/loop/index.ts';
import type { LlmResponse } from '../../../core/models/index.ts';
import type { HelpRequest } from '../../../core/tools/index.ts';

/** A call after it was gated: what will run, or why nothing will. */
export interface GateRecord extends GatedCall {
  readonly callId: string;
  readonly name: string;
  /** The arguments as hooks left them. */
  readonly arguments: JsonObject;
  /** For `ask_participant`: what is asked of whom. */
  readonly request?: HelpRequest;
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

/** Effects are plain JSON; this says so to the compiler. */
export function toJson(effect: ModelEffect | ResultEffect | LlmResponse): JsonValue {
  return effect as unknown as JsonValue;
}

/** Reads an effect this program wrote. */
export function fromJson<T extends ModelEffect | ResultEffect | LlmResponse>(
  value: JsonValue | undefined,
): T | undefined {
  return value as unknown as T | undefined;
}
