import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../base/index.ts';
import { assertStrictSchema, compileSchema } from './schema.ts';

const ORDER: JsonObject = {
  type: 'object',
  properties: {
    number: { type: 'integer' },
    state: { enum: ['open', 'sent'] },
    items: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
  },
  required: ['number'],
  additionalProperties: false,
};

describe('compileSchema', () => {
  it('gives the value back when it fits', () => {
    const value = { number: 1042, items: [{ name: 'lamp' }] };
    expect(compileSchema(ORDER)(value)).toEqual({ ok: true, value });
  });

  it('names the path of every problem', () => {
    expect(compileSchema(ORDER)({ state: 'lost', items: [{ name: 7 }], color: 'red' })).toEqual({
      ok: false,
      problems: [
        "the arguments must have required property 'number'",
        'the arguments must NOT have additional properties: "color"',
        '/state must be equal to one of the allowed values: ["open","sent"]',
        '/items/0/name must be string',
      ],
    });
  });

  it('stops listing problems when there are many', () => {
    const result = compileSchema(ORDER)({ number: 1, items: Array.from({ length: 500 }, () => 'x') });
    expect(result).toMatchObject({ ok: false });
    if (!result.ok) expect(result.problems).toHaveLength(21);
    if (!result.ok) expect(result.problems.at(-1)).toBe('and 480 more');
  });

  it('compiles a schema object once', () => {
    expect(compileSchema(ORDER)).toBe(compileSchema(ORDER));
  });

  it('lets unknown formats and keywords be', () => {
    const validate = compileSchema({
      type: 'object',
      properties: { at: { type: 'string', format: 'moon-phase', 'x-hint': 1 } },
    });
    expect(validate({ at: 'full' }).ok).toBe(true);
  });

  it('reads draft-07 schemas as draft-07', () => {
    const validate = compileSchema({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }] } },
    });
    expect(validate({ pair: ['a', 'b'] })).toEqual({ ok: false, problems: ['/pair/1 must be number'] });
  });

  it('reads 2020-12 keywords, with or without the dialect said', () => {
    const pair = {
      type: 'object',
      properties: { pair: { prefixItems: [{ type: 'string' }, { type: 'number' }] } },
    };
    const said = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...pair };
    expect(compileSchema(pair)({ pair: ['a', 'b'] }).ok).toBe(false);
    expect(compileSchema(said)({ pair: ['a', 'b'] }).ok).toBe(false);
  });

  it('takes two schemas with one $id', () => {
    expect(compileSchema({ $id: 'https://example.com/one', type: 'object' })({}).ok).toBe(true);
    expect(compileSchema({ $id: 'https://example.com/one', type: 'object', required: ['a'] })({}).ok).toBe(
      false,
    );
  });

  it.each<[string, JsonObject]>([
    ['an unknown type', { type: 'nothing' }],
    ['a reference to nowhere', { $ref: 'https://example.com/other.json' }],
    ['an asynchronous schema, whose promise would read as valid', { $async: true, type: 'object' }],
  ])('refuses %s with a typed error', (_, schema) => {
    expect(() => compileSchema(schema)).toThrow(expect.objectContaining({ code: 'plugin.invalid' }));
  });
});

describe('assertStrictSchema', () => {
  it.each<[string, JsonObject]>([
    ['a schema', ORDER],
    ['a draft-07 schema', { $schema: 'http://json-schema.org/draft-07/schema#', definitions: { a: {} } }],
    ['an unknown format', { properties: { at: { format: 'moon-phase' } } }],
  ])('takes %s', (_, schema) => {
    expect(() => assertStrictSchema(schema)).not.toThrow();
  });

  it.each<[string, JsonObject]>([
    ['does not compile', { type: 'nothing' }],
    ['has a slip in a keyword', { propertis: { amount: { type: 'number' } } }],
    ['names properties where keywords stand', { amount: { type: 'number' } }],
  ])('refuses one that %s', (_, schema) => {
    expect(() => assertStrictSchema(schema)).toThrow(expect.objectContaining({ code: 'plugin.invalid' }));
  });
});
