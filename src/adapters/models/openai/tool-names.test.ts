import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LlmInputItem, ToolDefinition } from '../../../core/models/index.ts';
import { mapToolNames } from './tool-names.ts';

const define = (name: string): ToolDefinition => ({ name, description: '', inputSchema: { type: 'object' } });
const calling = (...names: string[]): LlmInputItem => ({
  type: 'assistant',
  text: '',
  calls: names.map((name, n) => ({ id: `c${n}`, name, arguments: '{}' })),
});

// Short names over few characters collide often; long ones meet the limit of 64.
const anyName = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', '_', '/', '.', '2', 'é'), maxLength: 6 }),
  fc.string({ unit: fc.constantFrom('x', '/', '_'), minLength: 60, maxLength: 90 }),
  fc.string({ unit: 'grapheme' }),
);

test('TL-9 every name gets an acceptable spelling of its own that leads back to it', () => {
  fc.assert(
    fc.property(fc.array(anyName), fc.array(anyName), (defined, called) => {
      const names = mapToolNames({ tools: defined.map(define), input: [calling(...called)] });
      const all = [...new Set([...defined, ...called])];
      const spellings = all.map((name) => names.toProvider(name));
      for (const spelling of spellings) expect(spelling).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(new Set(spellings).size).toBe(all.length);
      expect(spellings.map((spelling) => names.toHarness(spelling))).toEqual(all);
    }),
  );
});

test('TL-9 what the history says never changes the spelling of a definition', () => {
  fc.assert(
    fc.property(fc.array(anyName), fc.array(anyName), (defined, called) => {
      const tools = defined.map(define);
      const before = mapToolNames({ tools, input: [] });
      const after = mapToolNames({ tools, input: [calling(...called)] });
      expect(defined.map((name) => after.toProvider(name))).toEqual(
        defined.map((name) => before.toProvider(name)),
      );
    }),
  );
});

test('TL-9 a name that is acceptable already stays, even when another one would become it', () => {
  const names = mapToolNames({ tools: [define('files/read'), define('files_read')], input: [] });
  expect(names.toProvider('files_read')).toBe('files_read');
  expect(names.toProvider('files/read')).toBe('files_read_2');
});

test('TL-9 a name the model made up stays what it is', () => {
  const names = mapToolNames({ tools: [define('files/read')], input: [] });
  expect(names.toHarness('delete_everything')).toBe('delete_everything');
});
