import { isJsonObject, type JsonValue } from '../core/base/index.ts';
import { HELP_INSTRUCTIONS } from '../core/prompts/index.ts';

/**
 * The proposal in a request that decides how a participant is reached (PC-7), as JSON; undefined for any other request.
 * `request` is an `LlmRequest`, or the body of one as it crossed the wire.
 */
export function proposedHelp(request: unknown): string | undefined {
  const texts = textsIn(request as JsonValue);
  if (!texts.includes(HELP_INSTRUCTIONS)) return undefined;
  for (const text of texts.toReversed()) {
    const [, proposal] = /^proposal:\n(.+)$/m.exec(text) ?? [];
    if (proposal !== undefined) return proposal;
  }
  return undefined;
}

function textsIn(value: JsonValue | undefined): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : [];
}
