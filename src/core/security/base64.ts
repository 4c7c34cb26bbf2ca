const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The UTF-8 bytes of `text`. Written out because pure code has no `TextEncoder`; a lone surrogate becomes U+FFFD. */
export function utf8(text: string): number[] {
  const bytes: number[] = [];
  for (const char of text.toWellFormed()) {
    const code = char.codePointAt(0) ?? 0;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    else
      bytes.push(
        0xf0 | (code >> 18),
        0x80 | ((code >> 12) & 63),
        0x80 | ((code >> 6) & 63),
        0x80 | (code & 63),
      );
  }
  return bytes;
}

/** Base64 of `bytes`, padded. */
export function base64(bytes: readonly number[]): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const [a = 0, b, c] = bytes.slice(at, at + 3);
    const group = (a << 16) | ((b ?? 0) << 8) | (c ?? 0);
    const digit = (shift: number): string => ALPHABET.charAt((group >> shift) & 63);
    text += digit(18) + digit(12) + (b === undefined ? '=' : digit(6)) + (c === undefined ? '=' : digit(0));
  }
  return text;
}

/**
 * The pieces of base64 text that betray `bytes` wherever they stand inside something larger that was encoded: one per
 * position of the first byte in its group of three, without the characters that also depend on the neighbours.
 */
export function base64Cores(bytes: readonly number[]): string[] {
  return [0, 1, 2].map((offset) => {
    const encoded = base64([...Array<number>(offset).fill(0), ...bytes]);
    const first = Math.ceil((offset * 8) / 6);
    const whole = Math.floor(((offset + bytes.length) * 8) / 6);
    return encoded.slice(first, whole);
  });
}
