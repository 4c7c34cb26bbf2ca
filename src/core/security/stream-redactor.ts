/** Masks secrets in text that comes in pieces: what may still turn out to be one is held back (SE-2). */
export interface StreamRedactor {
  /** What of the text so far can be shown now; possibly nothing. */
  push(piece: string): string;
  /** The rest. */
  end(): string;
}

/** Look like a credential to every rule that goes by what stands before one, and to no other rule. */
const PROBES = ['', '= '].map((before) => `${before}A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0U1`);

/** How far back a word can make the one after it a secret. */
const CONTEXT = 120;

/** No credential is longer; past this, what was held back is masked as it stands. */
const LONGEST = 16_384;

/** What ends a word: white space, and letters of scripts that write without it. */
const WORD_END = /[\s\p{Lo}]/u;

/** The last word, as far as it has come. Letters of scripts that write without spaces end a word. */
const LAST_WORD = /[^\s\p{Lo}]*$/u;

/**
 * @param redactText - masks whole texts.
 * @param unsettled - how many characters at the end of a text may be the beginning of a configured secret.
 */
export function createStreamRedactor(
  redactText: (text: string) => string,
  unsettled: (text: string) => number,
): StreamRedactor {
  let held = '';
  return {
    push(piece) {
      held += piece;
      // Inside a word nothing can settle, so nothing is looked at: a long one costs what a short one does.
      if (held.length <= LONGEST && !WORD_END.test(piece)) return '';
      const cut = held.length > LONGEST ? held.length : settledUpTo(held, redactText, unsettled);
      const shown = redactText(held.slice(0, cut));
      held = held.slice(cut);
      return shown;
    },
    end() {
      const shown = redactText(held);
      held = '';
      return shown;
    },
  };
}

/** Where the text can be cut so that nothing that comes later makes a secret of what stands before. */
function settledUpTo(
  text: string,
  redactText: (text: string) => string,
  unsettled: (text: string) => number,
): number {
  const block = text.lastIndexOf('-----BEGIN');
  if (block >= 0 && !/-----END [^\n]*-----/.test(text.slice(block))) return block;
  let cut = Math.min(text.length - unsettled(text), text.length - lastWord(text));
  const whole = redactText(text);
  while (cut > 0 && !isSettled(text, cut, whole, redactText)) {
    const before = text.slice(0, cut).trimEnd();
    cut = before.length - lastWord(before);
  }
  return cut;
}

function lastWord(text: string): number {
  return LAST_WORD.exec(text.slice(-LONGEST))?.[0].length ?? 0;
}

/** A cut goes through no secret, and no word before it, such as "Bearer", makes a secret of what comes next. */
function isSettled(text: string, cut: number, whole: string, redactText: (text: string) => string): boolean {
  if (redactText(text.slice(0, cut)) + redactText(text.slice(cut)) !== whole) return false;
  const before = text.slice(Math.max(0, cut - CONTEXT), cut);
  const shown = redactText(before);
  return PROBES.every((probe) => redactText(before + probe) === shown + probe);
}
