import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRedactor, createSecretRegistry } from './index.ts';

const SECRET = 'correct horse battery';

function redactor(secrets: readonly string[] = [SECRET]) {
  const registry = createSecretRegistry();
  registry.add(secrets);
  return createRedactor(() => registry.snapshot());
}

function shown(text: string, sizes: readonly number[]): string {
  const stream = redactor().stream();
  let out = '';
  let at = 0;
  for (let piece = 0; at < text.length; piece += 1) {
    const size = sizes[piece % sizes.length] ?? 1;
    out += stream.push(text.slice(at, at + size));
    at += size;
  }
  return out + stream.end();
}

test.each([
  `the password is ${SECRET}, keep it`,
  'use Bearer abc123def456ghi789jkl0 for that',
  'key sk-proj-abcdefghijklmnop1234 ok',
  'postgres://user:hunter2@host/db is the address',
  'aws_secret_access_key = abcdefghijklmnopqrstuvwxyz0123456789ABCD end',
  'before\n-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA1\nabc def\n-----END RSA PRIVATE KEY-----\nafter',
])('SE-2: a secret that comes in pieces of any size is masked as it is in one: %s', (text) => {
  const whole = redactor().redactText(text);
  expect(whole).not.toBe(text);
  for (const size of [1, 2, 3, 7, 1000]) expect(shown(text, [size]), `pieces of ${size}`).toBe(whole);
});

test('SE-2: whatever the text and the pieces, what is shown is what would be shown of the whole', () => {
  const word = fc.oneof(
    fc.constantFrom(
      'Bearer',
      'Basic',
      'correct',
      'horse',
      'battery',
      SECRET,
      'sk-abcdefghijkl1234',
      'abc123def456ghi7',
      '你好世界',
      '\n',
    ),
    fc.string({ maxLength: 12 }),
  );
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 30 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
      (words, sizes) => {
        const text = words.join(' ');
        expect(shown(text, sizes)).toBe(redactor().redactText(text));
      },
    ),
    { numRuns: 300 },
  );
});

test('ordinary text lags by no more than the word that is being written', () => {
  const stream = redactor([]).stream();
  expect(stream.push('Hello wor')).toBe('Hello ');
  expect(stream.push('ld, how are you')).toBe('world, how are ');
  expect(stream.push('我很好')).toBe('you我很好');
  expect(stream.end()).toBe('');
});

test('a long reply costs little: 100 kB in small pieces in well under a second', () => {
  const text = 'The quick brown fox jumps over the lazy dog. '.repeat(2300);
  const started = performance.now();
  expect(shown(text, [5])).toBe(text);
  expect(performance.now() - started).toBeLessThan(1500);
});
