import { describe, expect, it } from 'vitest';
import { LineLog } from './line-log.ts';

function read(...chunks: readonly (string | Buffer)[]): string[] {
  const lines: string[] = [];
  const log = new LineLog((line) => lines.push(line));
  for (const chunk of chunks) log.write(Buffer.from(chunk));
  log.end();
  return lines;
}

describe('LineLog', () => {
  it('puts lines together whatever pieces they come in', () => {
    expect(read('one\r\ntw', 'o\n', '\nthree')).toEqual(['one', 'two', 'three']);
    const euro = Buffer.from('5 €\n');
    expect(read(euro.subarray(0, 3), euro.subarray(3))).toEqual(['5 €']);
  });

  it('cuts a long line and goes on with the next', () => {
    const lines = read(...Array.from({ length: 100 }, () => 'x'.repeat(100)), '\nnext\n');
    expect(lines).toEqual([`${'x'.repeat(2000)} [cut: 8000 more characters]`, 'next']);
  });

  it('keeps the last few lines only', () => {
    const log = new LineLog(() => {});
    for (let at = 0; at < 1000; at++) log.write(Buffer.from(`${at}\n`));
    expect(log.last).toEqual(['995', '996', '997', '998', '999']);
  });
});
