import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineBuffer } from './line-buffer.ts';

describe('LineBuffer', () => {
  it('gives the same lines however the bytes come', () => {
    const text = fc.array(
      fc.string({ unit: 'binary' }).map((line) => line.replace(/[\r\n]/g, '').toWellFormed()),
    );
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 7 }), (lines, size) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const buffer = new LineBuffer();
        const read: string[] = [];
        for (let at = 0; at < bytes.length; at += size)
          read.push(...buffer.push(bytes.subarray(at, at + size)));
        expect(read).toEqual(lines);
      }),
    );
  });

  it('takes both ends of line, and keeps what has none', () => {
    const buffer = new LineBuffer();
    expect(buffer.push(Buffer.from('one\r\n\ntw'))).toEqual(['one', '']);
    expect(buffer.push(Buffer.from('o\n'))).toEqual(['two']);
  });

  it('refuses a line that is too long, whether it ends or not', () => {
    expect(() => new LineBuffer(3).push(Buffer.from('four\n'))).toThrow(/longer than 3 bytes/);
    const buffer = new LineBuffer(3);
    buffer.push(Buffer.from('on'));
    expect(() => buffer.push(Buffer.from('es'))).toThrow(/longer than 3 bytes/);
  });
});
