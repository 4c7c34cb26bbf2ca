import { describe, expect, it } from 'vitest';
import { parseCommand } from './index.ts';

describe('parseCommand', () => {
  it.each([
    ['/status', 'status', ''],
    ['/status\n', 'status', ''],
    ['/model qwen3', 'model', 'qwen3'],
    ['/model \t qwen3  ', 'model', 'qwen3'],
    ['/sub-task find it\nand say where', 'sub-task', 'find it\nand say where'],
    ['/a2\nb', 'a2', 'b'],
    [`/${'a'.repeat(32)}`, 'a'.repeat(32), ''],
  ])('reads %j', (text, name, argument) => {
    expect(parseCommand(text)).toEqual({ name, argument });
  });

  it.each([
    '',
    '/',
    '/ status',
    'status',
    ' /status',
    'see /status',
    '/Status',
    '/2a',
    '/home/user',
    '/status!',
    '//status',
    `/${'a'.repeat(33)}`,
  ])('leaves %j alone', (text) => {
    expect(parseCommand(text)).toBeUndefined();
  });
});
