import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApprovalInput } from '../hooks/index.ts';
import type { ToolAnnotations } from '../tools/index.ts';
import { type ApprovalRule, decideApproval } from './index.ts';

function call(name: string, annotations: ToolAnnotations = {}, args: ApprovalInput['arguments'] = {}) {
  return { callId: 'c1', name, arguments: args, annotations };
}

function matches(rule: Omit<ApprovalRule, 'decision'>, given: ApprovalInput): boolean {
  return decideApproval([{ ...rule, decision: 'ask' }], given).decision === 'ask';
}

describe('decideApproval', () => {
  it('PC-12: allows what no rule speaks of', () => {
    expect(decideApproval([], call('shop/pay'))).toEqual({ decision: 'allow' });
    expect(decideApproval([{ tool: 'shop/pay', decision: 'deny' }], call('shop/look'))).toEqual({
      decision: 'allow',
    });
  });

  it('PC-12: takes the first rule that matches, with its reason', () => {
    const rules: ApprovalRule[] = [
      { tool: 'shop/look', decision: 'allow' },
      { tool: 'shop/*', decision: 'ask', reason: 'It is money.' },
      { tool: '*', decision: 'deny' },
    ];
    expect(decideApproval(rules, call('shop/look'))).toEqual({ decision: 'allow' });
    expect(decideApproval(rules, call('shop/pay'))).toEqual({ decision: 'ask', reason: 'It is money.' });
    expect(decideApproval(rules, call('spawn_subtask'))).toEqual({ decision: 'deny' });
    expect(decideApproval(rules.toReversed(), call('shop/look'))).toEqual({ decision: 'deny' });
  });

  it('matches only when everything that a rule names holds', () => {
    const rule = {
      tool: 'shop/pay',
      annotations: { destructiveHint: true },
      arguments: { required: ['amount'] },
    };
    expect(matches(rule, call('shop/pay', {}, { amount: 1 }))).toBe(true);
    expect(matches(rule, call('shop/refund', {}, { amount: 1 }))).toBe(false);
    expect(matches(rule, call('shop/pay', { destructiveHint: false }, { amount: 1 }))).toBe(false);
    expect(matches(rule, call('shop/pay', {}, {}))).toBe(false);
  });

  it.each([
    ['spawn_subtask', 'spawn_subtask', true],
    ['spawn_subtask', 'spawn_subtasks', false],
    ['shop/pay', 'Shop/pay', false],
    ['shop/pay', 'shop/pay2', false],
    ['shop.pay', 'shop/pay', false],
    ['*', 'anything/at.all', true],
    ['*', '', true],
    ['*.pay', 'local/shop.pay', true],
    ['local/*', 'local/shop.pay', true],
    ['local/*', 'localshop', false],
    ['a*b*c', 'a/b.c', true],
    ['a*b*c', 'abbc', true],
    ['a*b*c', 'acb', false],
    ['ab*ba', 'aba', false],
    ['', '', true],
    ['', 'a', false],
  ])('reads the pattern "%s" on "%s" as %s', (tool, name, expected) => {
    expect(matches({ tool }, call(name))).toBe(expected);
  });

  it('reads any pattern as a regular expression would', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 8 });
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 });
    fc.assert(
      fc.property(pattern, text, (tool, name) => {
        expect(matches({ tool }, call(name))).toBe(
          new RegExp(`^${tool.replaceAll('*', '.*')}$`, 's').test(name),
        );
      }),
    );
  });

  it.each<[string, ToolAnnotations, ToolAnnotations]>([
    [
      'says nothing',
      {},
      { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    ],
    [
      'only reads',
      { readOnlyHint: true },
      { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    ],
    [
      'says that it reads and destroys',
      { readOnlyHint: true, destructiveHint: true },
      { readOnlyHint: true, destructiveHint: true },
    ],
    [
      'says it all',
      { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    ],
  ])('gives a tool that %s the defaults of MCP', (_, stated, has) => {
    expect(matches({ tool: '*', annotations: has }, call('x', stated))).toBe(true);
    for (const [hint, value] of Object.entries(has)) {
      expect(matches({ tool: '*', annotations: { [hint]: !value } }, call('x', stated)), hint).toBe(false);
    }
  });

  it('reads arguments by JSON Schema', () => {
    const rule = {
      tool: '*',
      arguments: { properties: { amount: { type: 'number', exclusiveMinimum: 100 } }, required: ['amount'] },
    };
    expect(matches(rule, call('x', {}, { amount: 101 }))).toBe(true);
    expect(matches(rule, call('x', {}, { amount: 100 }))).toBe(false);
    expect(matches(rule, call('x', {}, { amount: '101' }))).toBe(false);
  });
});
