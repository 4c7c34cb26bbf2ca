import { isJsonObject } from '../../../core/base/index.ts';

/**
 * The arguments of a call as they go back in a history: some servers parse them there, and answer broken ones with 500
 * for ever (MD-9).
 */
export function soundArguments(text: string): string {
  return isJsonObjectText(text) ? text.toWellFormed() : '{}';
}

/** True when `text` is the whole JSON text of an object. */
export function isJsonObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}
