import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../base/index.ts';
import { createRedactor, createSecretRegistry, MASK, type Redactor } from './index.ts';

const SECRET = 'hunter2 & "frïends" /+?';

function redactorOf(...values: string[]): Redactor {
  return createRedactor(() => ({ version: 1, values }));
}

describe('configured values', () => {
  const { redactText } = redactorOf(SECRET, 'short');

  it('masks a value as it is, in JSON, in a URL and in a form', () => {
    for (const form of [
      SECRET,
      JSON.stringify(SECRET).slice(1, -1),
      encodeURIComponent(SECRET),
      encodeURIComponent(SECRET).toLowerCase(),
      new URLSearchParams({ q: SECRET }).toString().slice(2),
    ])
      expect(redactText(`before ${form} after`)).toBe(`before ${MASK} after`);
  });

  it('masks a value inside base64 wherever it stands in the encoded bytes', () => {
    for (const encoding of ['base64', 'base64url'] as const)
      for (const before of ['', 'u', 'us', 'usr', 'user:']) {
        const text = Buffer.from(`${before}${SECRET}${before}`).toString(encoding);
        const masked = redactText(text);
        expect(masked).toContain(MASK);
        expect(Buffer.from(masked.replace(MASK, ''), 'base64').toString()).not.toContain('hunter');
      }
  });

  it('leaves values under six characters alone', () => {
    expect(redactText('a short text')).toBe('a short text');
  });

  it('masks overlapping values as one', () => {
    expect(redactorOf('abcdefgh', 'efghijkl').redactText('x abcdefghijkl y')).toBe(`x ${MASK} y`);
  });

  it('follows the version of its source', () => {
    const registry = createSecretRegistry();
    const redactor = createRedactor(registry.snapshot);
    expect(redactor.redactText('swordfish')).toBe('swordfish');
    const removeFirst = registry.add(['swordfish']);
    const removeSecond = registry.add(['swordfish', 'tunafish']);
    removeFirst();
    removeFirst();
    expect(redactor.redactText('swordfish tunafish')).toBe(`${MASK} ${MASK}`);
    removeSecond();
    expect(redactor.redactText('swordfish')).toBe('swordfish');
  });
});

describe('credential shapes', () => {
  const { redactText } = redactorOf();
  const word = 'aB3dE6gH9jK2mN5pQ8sT';
  const jwt = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${word}`;

  it.each([
    ['bearer token', `Authorization: Bearer ${word}`, `Authorization: Bearer ${MASK}`],
    ['basic header', 'authorization: basic dXNlcjpwYXNzd29yZDE=', `authorization: basic ${MASK}`],
    ['sk- key', `key=sk-proj-${word}.`, `key=${MASK}.`],
    ['AWS key id', 'id AKIAIOSFODNN7EXAMPLE', `id ${MASK}`],
    ['AWS secret', `aws_secret_access_key = ${word}${word}`, `aws_secret_access_key = ${MASK}`],
    ['Google API key', `?key=AIza${word}${word}&x=1`, `?key=${MASK}&x=1`],
    ['Google token', `ya29.${word}`, MASK],
    ['GitHub token', `ghp_${word}${word}`, MASK],
    ['GitHub fine-grained', `github_pat_${word}_${word}`, MASK],
    ['GitLab token', `glpat-${word}`, MASK],
    ['Slack token', 'xoxb-1234567890-abcdef', MASK],
    [
      'Slack webhook',
      `https://hooks.slack.com/services/T0000/B0000/${word}`,
      `https://hooks.slack.com/services/${MASK}`,
    ],
    ['JWT', `{"t":"${jwt}"}`, `{"t":"${MASK}"}`],
    [
      'private key',
      `a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb`,
      `a\n${MASK}\nb`,
    ],
    ['cut off private key', '-----BEGIN PRIVATE KEY-----\nMIIE', MASK],
    ['basic-auth URL', 'postgres://bob:pa55@db:5432/x', `postgres://${MASK}@db:5432/x`],
  ])('masks a %s', (_name, text, masked) => {
    expect(redactText(text)).toBe(masked);
  });

  it('leaves ordinary text alone', () => {
    for (const text of [
      'risk-assessment-of-the-whole-year, task-0123456789abcdef',
      'The bearer authentication scheme and basic understanding of it',
      'see https://example.com:8080/a?b=c and mail bob@example.com',
      '{"url":"http://127.0.0.1:8080","who":"a@b.c"}',
      '-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----',
      '9f8b1c52-7f3e-4f0e-9a52-0f3f1a3f4a57',
    ])
      expect(redactText(text)).toBe(text);
  });
});

describe('nested values', () => {
  const redactor = redactorOf('swordfish', 'tunafish');

  it('masks strings and keys at any depth, loses no value, and keeps everything else', () => {
    const value = { swordfish: 1, tunafish: 2, list: [{ note: 'a swordfish' }, null, true, 1.5] };
    expect(redactor.redact(value)).toEqual({
      [MASK]: 1,
      [`${MASK} (2)`]: 2,
      list: [{ note: `a ${MASK}` }, null, true, 1.5],
    });
    expect(value.list[0]).toEqual({ note: 'a swordfish' });
  });

  it('survives very deep values and a key named __proto__', () => {
    let deep: JsonValue = 'swordfish';
    for (let level = 0; level < 200_000; level++) deep = [deep];
    let at: JsonValue = redactor.redact(deep);
    while (Array.isArray(at)) at = at[0] as JsonValue;
    expect(at).toBe(MASK);
    const hostile = redactor.redact(JSON.parse('{"__proto__": {"polluted": "swordfish"}}') as JsonValue);
    expect(JSON.stringify(hostile)).toBe(`{"__proto__":{"polluted":"${MASK}"}}`);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('values that are more than JSON', () => {
  const redactor = redactorOf('swordfish');

  it('keep their instances, and what holds itself still does', () => {
    const at = new Date(0);
    const value: Record<string, unknown> = { at, note: 'a swordfish', bare: Object.create(null) };
    value.self = [value];
    const masked = redactor.redactPlain(value);
    expect(masked).toMatchObject({ note: `a ${MASK}`, bare: {} });
    expect(masked.at).toBe(at);
    expect((masked.self as unknown[])[0]).toBe(masked);
  });

  it('are masked all the same where they are stored as JSON', () => {
    class Result {
      readonly text = 'a swordfish';
    }
    expect(redactor.redact({ result: new Result() } as never)).toEqual({ result: { text: `a ${MASK}` } });
  });
});

describe('properties', () => {
  const values = ['swordfish', 'fishbone42', 'zz[redac', 'edacted]x', SECRET];
  const redactor = redactorOf(...values);
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 6 }),
    fc.constantFrom(
      ...values,
      MASK,
      '[redac',
      'ted]',
      'Bearer ',
      'sk-',
      'abc',
      '0123456789ABCDEF',
      'AKIA',
      'eyJ',
    ),
    fc.constantFrom(
      'abcdefghijkl',
      '.',
      '://',
      'u:p',
      '@',
      '-----BEGIN PRIVATE KEY-----',
      '-----END x',
      'ghp_',
      ' ',
    ),
  );
  const text = fc.array(piece, { maxLength: 14 }).map((parts) => parts.join(''));

  it('redacting twice is redacting once', () => {
    fc.assert(
      fc.property(text, (input) => {
        const once = redactor.redactText(input);
        expect(redactor.redactText(once)).toBe(once);
      }),
      { numRuns: 5000 },
    );
  });

  it('no configured value survives, in any JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), text, (tree, input) => {
        const masked = redactor.redact({ [input]: [tree as JsonValue, { deep: input }] });
        expect(JSON.stringify(masked).replaceAll(MASK, '')).not.toMatch(/swordfish|fishbone42/);
        expect(redactor.redact(masked)).toEqual(masked);
      }),
    );
  });
});

describe('cost', () => {
  const many = Array.from({ length: 20 }, (_, index) => `a-configured-secret-value-${index}`);
  const { redactText } = redactorOf(...many);
  const size = 1_000_000;
  it('1 MB of ordinary text takes well under 100 ms', () => {
    // About 20 ms alone on a core; the best of several, since tests share the cores.
    expect(timeOn('The quick brown fox, 127.0.0.1; jumps over {"the": "lazy dog"}. ', 10)).toBeLessThan(100);
  });

  // Each is a run that a careless pattern would scan again from every position: that takes minutes.
  it.each([
    ['one letter', 'a'],
    ['JWT starts', 'eyJ'],
    ['JWT starts, bounded', 'eyJabcdefghijkl-eyJ '],
    ['sk- starts', 'sk-'],
    ['URL starts', 'http://u:p'],
    ['bearer starts', 'Bearer abcdefghi '],
    ['key blocks', '-----BEGIN PRIVATE KEY-----'],
    ['secret starts', 'a-configured-secret-value-'],
    ['secrets', 'a-configured-secret-value-1 '],
    ['masks', MASK],
  ])('1 MB of %s takes linear time', (_name, unit) => {
    expect(timeOn(unit)).toBeLessThan(2000);
  });

  function timeOn(unit: string, runs = 2): number {
    const text = unit.repeat(Math.ceil(size / unit.length));
    redactText(text.slice(0, 50_000));
    return Math.min(...Array.from({ length: runs }, () => timed(() => redactText(text))));
  }
});

function timed(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
