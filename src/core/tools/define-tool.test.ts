import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { createAbort } from '../base/index.ts';
import { defineTool } from './define-tool.ts';
import type { Tool, ToolContext } from './tool.ts';

const context: ToolContext = { agentId: 'a', taskId: 't', callKey: 'k', signal: createAbort().signal };

function returning(value: string | number | { readonly [key: string]: string | boolean }): Tool {
  return defineTool({ name: 'x', description: '', input: z.object({}), run: () => value });
}

describe('defineTool', () => {
  it('makes the JSON schema, infers the input and applies its defaults', async () => {
    const tool = defineTool({
      name: 'shop/find_order',
      description: 'Finds an order.',
      input: z.object({ number: z.number().int(), detail: z.enum(['short', 'full']).default('short') }),
      annotations: { readOnlyHint: true },
      run: (input) => {
        expectTypeOf(input).toEqualTypeOf<{ number: number; detail: 'short' | 'full' }>();
        return `${input.number} ${input.detail}`;
      },
    });
    expect(tool.inputSchema).toMatchObject({ type: 'object', required: ['number'] });
    expect(tool.inputSchema).not.toHaveProperty('$schema');
    expect(await tool.run({ number: 1042 }, context)).toEqual({ text: '1042 short' });
  });

  it('puts a tool without a plugin under "app"', () => {
    expect(returning('').name).toBe('app/x');
  });

  it.each(['Shop/find', 'shop/find order', '/find', 'shop/', 'a/b/c'])('refuses the name "%s"', (name) => {
    const define = () => defineTool({ name, description: '', input: z.object({}), run: () => '' });
    expect(define).toThrow(expect.objectContaining({ code: 'plugin.invalid' }));
  });

  it.each([
    ['is not an object', z.string()],
    ['has no JSON form', z.object({ at: z.date() })],
  ])('refuses an input that %s', (_, input) => {
    const define = () => defineTool({ name: 'x', description: '', input, run: () => '' });
    expect(define).toThrow(expect.objectContaining({ code: 'plugin.invalid' }));
  });

  it('refuses what only the schema itself can check, and names the path', async () => {
    const tool = defineTool({
      name: 'x',
      description: '',
      input: z.object({ range: z.object({ from: z.number().refine((n) => n % 2 === 0, 'must be even') }) }),
      run: () => 'ran',
    });
    await expect(tool.run({ range: { from: 3 } }, context)).rejects.toMatchObject({
      code: 'tool.invalid_arguments',
      message: 'the arguments of app/x are not valid: /range/from must be even',
    });
  });

  it('turns what run returns into a result', async () => {
    expect(await returning('plain').run({}, context)).toEqual({ text: 'plain' });
    expect(await returning(7).run({}, context)).toEqual({ text: '7', data: 7 });
    expect(await returning({ a: 'b' }).run({}, context)).toEqual({ text: '{"a":"b"}', data: { a: 'b' } });
    expect(await returning({ text: 'no', isError: true }).run({}, context)).toEqual({
      text: 'no',
      isError: true,
    });
    const withText = { text: 'a page', title: 'of a book' };
    expect(await returning(withText).run({}, context)).toMatchObject({ data: withText });
  });

  it('holds what run returns to the output schema', async () => {
    const output = z.object({ total: z.number() });
    const make = (total: number) =>
      defineTool({ name: 'x', description: '', input: z.object({}), output, run: async () => ({ total }) });
    expect(await make(3).run({}, context)).toEqual({ text: '{"total":3}', data: { total: 3 } });
    await expect(make(Number.NaN).run({}, context)).rejects.toMatchObject({ code: 'tool.failed' });
    // @ts-expect-error what run returns must have the type of the output schema
    defineTool({ name: 'x', description: '', input: z.object({}), output, run: () => ({ total: 'three' }) });
  });
});
