import { isJsonObject, type JsonObject, type JsonValue } from '../core/base/index.ts';
import type { LlmRequest } from '../core/models/index.ts';

/** A call of the conversation and what came of it. */
export interface PastCall {
  readonly name: string;
  readonly arguments: JsonObject;
  /** Undefined while there is none. */
  readonly result:
    | { readonly text: string; readonly isError: boolean; readonly data: JsonObject }
    | undefined;
}

/** What somebody said, without the line that says who. */
export interface Said {
  readonly by: string;
  readonly text: string;
  /** How many calls came before it. */
  readonly after: number;
}

/** A model's view of the conversation so far. */
export interface Conversation {
  readonly said: readonly Said[];
  readonly calls: readonly PastCall[];
}

/** Reads a request the way a model does: who said what, which tools ran, what they returned. */
export function readConversation({ input }: LlmRequest): Conversation {
  const said: Said[] = [];
  const calls: PastCall[] = [];
  const results = new Map(
    input.flatMap((item) => (item.type === 'tool_result' ? [[item.callId, item] as const] : [])),
  );
  for (const item of input) {
    if (item.type === 'user') {
      const [, by, text] = /^\[message from (\S+)[^\n]*\]\n([\s\S]*)$/.exec(item.text) ?? [];
      if (by !== undefined && text !== undefined) said.push({ by, text, after: calls.length });
    } else if (item.type === 'assistant') {
      for (const { id, name, arguments: args } of item.calls) {
        const result = results.get(id);
        calls.push({
          name,
          arguments: objectIn(args),
          result: result && { text: result.text, isError: result.isError, data: objectIn(result.text) },
        });
      }
    }
  }
  return { said, calls };
}

/** The JSON object in a text, which may stand in the frame around untrusted data; empty when there is none. */
function objectIn(text: string): JsonObject {
  const [json] = /\{[\s\S]*\}/.exec(text) ?? ['{}'];
  try {
    const value = JSON.parse(json) as JsonValue;
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
