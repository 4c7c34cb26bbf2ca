import { describe, expect, it } from 'vitest';
import { defineCommand, needOf, usageError } from './index.ts';

const run = () => ({ text: '' });

describe('defineCommand', () => {
  it('makes a command that takes nothing and is for those who may write, unless told otherwise', () => {
    expect(defineCommand({ name: 'ping', description: 'Answers.', run })).toEqual({
      name: 'ping',
      description: 'Answers.',
      argumentHint: '',
      needs: 'write',
      run,
    });
    const options = {
      name: 'order',
      description: 'Shows an order.',
      argumentHint: '<number>',
      argumentSchema: { type: 'string', pattern: '^[0-9]+$' },
      needs: 'look',
      run,
    } as const;
    expect(defineCommand(options)).toEqual(options);
  });

  it('refuses a name that cannot stand behind a slash', () => {
    expect(() => defineCommand({ name: '/ping', description: '', run })).toThrow(
      expect.objectContaining({ code: 'plugin.invalid' }),
    );
  });
});

describe('needOf', () => {
  it('says what a command needs, by its argument where that decides', () => {
    const needs = (argument: string) => (argument === '' ? 'look' : 'write');
    const command = defineCommand({ name: 'x', description: '', argumentHint: '[y]', needs, run });
    expect([needOf(command, ''), needOf(command, 'y')]).toEqual(['look', 'write']);
    expect(needOf(defineCommand({ name: 'x', description: '', run }), '')).toBe('write');
  });

  it('SF-5: answers how a command is used that takes nothing and is given something', () => {
    const command = { name: 'cancel', argumentHint: '', needs: 'cancel' } as const;
    expect(needOf(command, '')).toBe('cancel');
    expect(() => needOf(command, 'the second order')).toThrow(
      expect.objectContaining({ code: 'input.invalid', message: 'usage: /cancel' }),
    );
  });
});

it('says how a command is used', () => {
  expect(usageError({ name: 'effort', argumentHint: '[low|high]' }).message).toBe(
    'usage: /effort [low|high]',
  );
});
