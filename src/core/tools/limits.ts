/**
 * Cuts a text to `limit` characters (UTF-16 units, as `read_tool_output` counts its offsets) and says so at its end
 * (TL-4). Never splits a surrogate pair, so one character fewer may be shown.
 *
 * @param ref - what `read_tool_output` finds the whole text by; without it the marker only says what is missing.
 */
export function cutText(text: string, limit: number, ref?: string): { text: string; cut: boolean } {
  if (text.length <= limit) return { text, cut: false };
  const shown = splitsPair(text, limit) ? limit - 1 : limit;
  const rest = ref === undefined ? '' : `; read the rest with read_tool_output ref=${ref}`;
  const marker = `[cut: ${shown} of ${text.length} characters shown${rest}]`;
  return { text: `${text.slice(0, shown)}\n${marker}`, cut: true };
}

function splitsPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}
