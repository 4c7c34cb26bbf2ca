/**
 * What credentials look like (SE-2). Rules that keep the search linear and redaction idempotent:
 *
 * 1. No pattern needs anything after its own match, except that of a URL, whose `@` ends it: cutting the text behind
 *    a match never makes a match.
 * 2. What can fail after a long run starts at a boundary or after a fixed text, so that a run is tried once.
 * 3. No character class holds a quote or a backslash, so that masking inside JSON text leaves JSON (a private key
 *    block that is cut off is the exception: it runs to the end).
 * 4. Every pattern starts with letters that it needs: then the engine skips ordinary text, some 200 MB in a second.
 */

/** Recognised by a text before them, which stays: `[what stays, the secret]`. */
const AFTER: readonly (readonly [string, string])[] = [
  // Long, or with a digit, so that "bearer authentication" stays.
  [
    '(?:[Bb]earer|BEARER)[ \\t]+',
    '(?:[A-Za-z0-9._~+/=-]{20,}|(?=[A-Za-z._~+/=-]*[0-9])[A-Za-z0-9._~+/=-]{8,})',
  ],
  ['(?:[Bb]asic|BASIC)[ \\t]+', '(?=[A-Za-z+/]*[0-9=])[A-Za-z0-9+/]{8,}={0,2}'],
  [
    '(?:aws_secret_access_key|AWS_SECRET_ACCESS_KEY|SecretAccessKey)[\\\\"\']{0,2}[ \\t]{0,4}[:=][ \\t]{0,4}[\\\\"\']{0,2}',
    '[A-Za-z0-9/+]{40,}',
  ],
  ['AccountKey=', '[A-Za-z0-9+/]{40,}={0,2}'],
  ['hooks\\.slack\\.com/services/', '[A-Za-z0-9/]{20,}'],
  // `user:password` of a URL.
  ['://', '[^\\s/:@"\'`<>\\\\]*:[^\\s/@"\'`<>\\\\]+(?=@)'],
];

/** Recognised by how they start, at the start of a word. */
const STARTING: readonly string[] = [
  // OpenAI, Anthropic, Langfuse and others; Stripe.
  'sk-[A-Za-z0-9_-]{12,}',
  '(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{10,}',
  // AWS, Google.
  '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16,}',
  'AIza[A-Za-z0-9_-]{30,}',
  'ya29\\.[A-Za-z0-9_.-]{20,}',
  'GOCSPX-[A-Za-z0-9_-]{20,}',
  // GitHub, GitLab, Slack, npm, Hugging Face.
  'gh[pousr]_[A-Za-z0-9]{20,}',
  'github_pat_[A-Za-z0-9_]{20,}',
  'gl(?:pat|ptt|dt|rt|cbt|soat|ft|oas|agent)-[A-Za-z0-9_.-]{16,}',
  'xox[abceoprs]-[A-Za-z0-9-]{10,}',
  'xapp-[A-Za-z0-9-]{10,}',
  'npm_[A-Za-z0-9]{30,}',
  'hf_[A-Za-z0-9]{30,}',
];

const ANY_SHAPE = new RegExp(
  [
    ...AFTER.map(([before, secret]) => `(${before})${secret}`),
    ...STARTING.map((shape) => `(?<![A-Za-z0-9])${shape}`),
    // JWT and JWE.
    '(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}(?:\\.[A-Za-z0-9_-]*){1,3}',
    // A private key block.
    '-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----END )[\\s\\S])*(?:-----END [A-Z0-9 ]{0,40}-----)?',
  ].join('|'),
);

/** The first credential shape in `text`, as start and end. */
export function findShape(text: string): readonly [start: number, end: number] | undefined {
  const match = ANY_SHAPE.exec(text);
  if (match === null) return undefined;
  const [whole, ...before] = match;
  const kept = before.find((group) => group !== undefined)?.length ?? 0;
  return [match.index + kept, match.index + whole.length];
}
