import { describe, expect, it } from 'vitest';
import { type Command, CommandRegistry } from './index.ts';

function command(name: string, description = ''): Command {
  return { name, description, argumentHint: '', needs: 'look', run: () => ({ text: '' }) };
}

describe('CommandRegistry', () => {
  it('lists commands by name, whatever order they came in', () => {
    const registry = new CommandRegistry();
    for (const name of ['status', 'a-b', 'ab', 'model']) registry.register(command(name));
    expect(registry.list().map(({ name }) => name)).toEqual(['a-b', 'ab', 'model', 'status']);
  });

  it('refuses a second command of one name unless told to override', () => {
    const registry = new CommandRegistry();
    registry.register(command('a', 'first'));
    expect(() => registry.register(command('a', 'second'))).toThrow(
      expect.objectContaining({ code: 'plugin.invalid', details: { command: 'a' } }),
    );
    expect(registry.get('a')?.description).toBe('first');
    registry.register(command('a', 'second'), { override: true });
    expect(registry.get('a')?.description).toBe('second');
    expect(registry.list()).toHaveLength(1);
  });

  it.each(['', '/a', 'A', '2a', '-a', 'a b', 'a_b', 'a'.repeat(33)])('refuses the name "%s"', (name) => {
    const registry = new CommandRegistry();
    expect(() => registry.register(command(name), { override: true })).toThrow(
      expect.objectContaining({ code: 'plugin.invalid' }),
    );
    expect(registry.list()).toEqual([]);
  });

  it('knows no command that was not registered', () => {
    expect(new CommandRegistry().get('constructor')).toBeUndefined();
  });
});
