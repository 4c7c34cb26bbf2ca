import { describe, expect, it } from 'vitest';
import { ToolRegistry } from './registry.ts';
import type { Tool } from './tool.ts';

function tool(name: string, description = ''): Tool {
  const run = () => Promise.resolve({ text: '' });
  return { name, description, inputSchema: { type: 'object' }, annotations: {}, run };
}

describe('ToolRegistry', () => {
  it('lists definitions by name in code-unit order, whatever order they came in', () => {
    const names = ['b/x', 'a/Z', 'a/a', 'a/b.c'];
    const [one, two] = [new ToolRegistry(), new ToolRegistry()];
    for (const name of names) one.register(tool(name));
    for (const name of names.toReversed()) two.register(tool(name));
    expect(one.definitions().map(({ name }) => name)).toEqual(['a/Z', 'a/a', 'a/b.c', 'b/x']);
    expect(JSON.stringify(two.definitions())).toBe(JSON.stringify(one.definitions()));
  });

  it('refuses a second tool of one name unless told to override', () => {
    const registry = new ToolRegistry();
    registry.register(tool('a/x', 'first'));
    expect(() => registry.register(tool('a/x', 'second'))).toThrow(
      expect.objectContaining({ code: 'plugin.invalid', details: { tool: 'a/x' } }),
    );
    expect(registry.definitions()[0]?.description).toBe('first');
    registry.register(tool('a/x', 'second'), { override: true });
    expect(registry.definitions()[0]?.description).toBe('second');
  });

  it('forgets a removed tool', () => {
    const registry = new ToolRegistry();
    registry.register(tool('a/x'));
    expect(registry.definitions()).toHaveLength(1);
    expect([registry.remove('a/x'), registry.remove('a/x')]).toEqual([true, false]);
    expect([registry.get('a/x'), registry.definitions()]).toEqual([undefined, []]);
  });
});
