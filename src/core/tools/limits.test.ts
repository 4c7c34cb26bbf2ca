import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutText } from './limits.ts';

describe('cutText', () => {
  it('leaves a text within the limit alone', () => {
    expect(cutText('12345', 5, 'r1')).toEqual({ text: '12345', cut: false });
  });

  it('says what is missing and where the rest is', () => {
    expect(cutText('123456', 4, 'r1')).toEqual({
      text: '1234\n[cut: 4 of 6 characters shown; read the rest with read_tool_output ref=r1]',
      cut: true,
    });
    expect(cutText('123456', 4).text).toBe('1234\n[cut: 4 of 6 characters shown]');
  });

  it('never splits a character and never shows more than the limit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.nat(60), (text, limit) => {
        const { text: shown, cut } = cutText(text, limit);
        expect(cut).toBe(text.length > limit);
        if (!cut) return;
        const kept = shown.slice(0, shown.lastIndexOf('\n[cut:'));
        expect(text.startsWith(kept)).toBe(true);
        expect(kept.isWellFormed()).toBe(true);
        expect(limit - kept.length).toBeLessThanOrEqual(1);
      }),
    );
  });
});
