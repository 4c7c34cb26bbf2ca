import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inert, inertJson, inertLine } from './inert.ts';

const CONTROL = /[\p{Cc}\p{Bidi_Control}]/u;

describe('inert', () => {
  it.each([
    ['a title or a clipboard', '\u001b]52;c;cm0=\u0007', '\\u001b]52;c;cm0=\\u0007'],
    ['a colour', '\u001b[31mred\u009b0m', '\\u001b[31mred\\u009b0m'],
    ['an overwritten line', 'rm -rf /\rls', 'rm -rf /\\u000dls'],
    ['a reversed word', 'abc\u202edef', 'abc\\u202edef'],
  ])('shows %s', (_, text, shown) => {
    expect(inert(text)).toBe(shown);
    expect(inertLine(text)).toBe(shown);
  });

  it('leaves words, line ends and tabs as they are', () => {
    expect(inert('héllo\t👩‍👩‍👧\r\nworld')).toBe('héllo\t👩‍👩‍👧\nworld');
    expect(inertLine('one\n  two\tthree')).toBe('one two three');
  });

  it('lets nothing through that a terminal acts on', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(inert(text).replace(/[\n\t]/g, '')).not.toMatch(CONTROL);
        expect(inertLine(text)).not.toMatch(CONTROL);
      }),
    );
  });

  it('keeps JSON the same JSON', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const json = inertJson(JSON.stringify({ text }));
        expect(json).not.toMatch(CONTROL);
        expect(JSON.parse(json)).toEqual({ text });
      }),
    );
  });
});
