/** Control characters but line end and tab, and what reorders text on the screen. */
const ACTIVE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/**
 * Text of agents, tools and people for a terminal (SE-8): escape sequences, bells, carriage returns and direction marks
 * are shown as `\u001b` and the like, so nothing in it moves the cursor, sets a title or a clipboard, or hides words.
 * Line ends and tabs stay.
 */
export function inert(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(ACTIVE, (char) => (char === '\n' || char === '\t' ? char : escaped(char)));
}

/** The same for text that must stay on one line. */
export function inertLine(text: string): string {
  return text.replace(/\s*\r?\n\s*/g, ' ').replace(ACTIVE, (char) => (char === '\t' ? ' ' : escaped(char)));
}

/** Escapes what is active in JSON text; the JSON says the same. `JSON.stringify` leaves C1 and direction marks as they are. */
export function inertJson(json: string): string {
  return json.replace(ACTIVE, escaped);
}

function escaped(char: string): string {
  return `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}
