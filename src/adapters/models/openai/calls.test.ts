import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CallAssembler, type CallPiece } from './calls.ts';
import { mapToolNames } from './tool-names.ts';

const names = mapToolNames({ tools: [], input: [] });
const assemble = (pieces: readonly CallPiece[]) => {
  const calls = new CallAssembler();
  for (const piece of pieces) calls.add(piece);
  return calls.finish(names);
};

test('MD-9 however the arguments are cut in pieces, the same calls come out', () => {
  const args = fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value));
  const call = args.chain((text) =>
    fc.record({ text: fc.constant(text), cuts: fc.array(fc.nat({ max: text.length })) }),
  );
  fc.assert(
    fc.property(fc.array(call), (calls) => {
      const pieces = calls.flatMap(({ text, cuts }, index): CallPiece[] => {
        const edges = [0, ...cuts.toSorted((a, b) => a - b), text.length];
        const parts = edges.slice(1).map((edge, n) => text.slice(edges[n], edge));
        return parts.map((part, n) =>
          n === 0 ? { index, id: `id${index}`, name: 'f', arguments: part } : { index, arguments: part },
        );
      });
      expect(assemble(pieces)).toEqual(
        calls.map(({ text }, index) => ({ id: `id${index}`, name: 'f', arguments: text })),
      );
    }),
  );
});

test('MD-9 a server that repeats id and name with every piece still makes one call', () => {
  const piece = { index: 0, id: 'a', name: 'f' };
  expect(
    assemble([
      { ...piece, arguments: '' },
      { ...piece, arguments: '{"n":' },
      { ...piece, arguments: '1}' },
      { ...piece, arguments: '' },
    ]),
  ).toEqual([{ id: 'a', name: 'f', arguments: '{"n":1}' }]);
});

test('MD-9 whole calls under one index are told apart by their ids, or by being whole', () => {
  expect(
    assemble([
      { index: 0, id: 'a', name: 'f', arguments: '{"n":1}' },
      { index: 0, id: 'b', name: 'f', arguments: '{"n":1}' },
      { index: 0, name: 'f', arguments: '{"n":1}' },
      { name: 'g', arguments: '{}' },
    ]),
  ).toEqual([
    { id: 'a', name: 'f', arguments: '{"n":1}' },
    { id: 'b', name: 'f', arguments: '{"n":1}' },
    { id: 'call_3', name: 'f', arguments: '{"n":1}' },
    { id: 'call_4', name: 'g', arguments: '{}' },
  ]);
});

test('MD-9 the same call again is dropped, and another call under its id gets an id of its own', () => {
  expect(
    assemble([
      { index: 0, id: 'a', name: 'f', arguments: '{"n":1}' },
      { index: 1, id: 'a', name: 'f', arguments: '{"n":1}' },
      { index: 2, id: 'a', name: 'f', arguments: '{"n":2}' },
    ]),
  ).toEqual([
    { id: 'a', name: 'f', arguments: '{"n":1}' },
    { id: 'a_2', name: 'f', arguments: '{"n":2}' },
  ]);
});

test('MD-9 the same call again in pieces under one index is one call', () => {
  const pieces = [
    { index: 0, id: 'a', name: 'f', arguments: '' },
    ...Array.from('{"n":{}}', (c) => ({ index: 0, arguments: c })),
  ];
  expect(assemble([...pieces, ...pieces])).toEqual([{ id: 'a', name: 'f', arguments: '{"n":{}}' }]);
});

test('an invented id never takes one that the provider gave', () => {
  const calls = assemble([
    { index: 0, name: 'f', arguments: '{}' },
    { index: 1, id: 'call_1', name: 'f', arguments: '{}' },
  ]);
  expect(calls.map((call) => call.id)).toEqual(['call_2', 'call_1']);
});

test('a call without arguments has the empty object', () => {
  expect(assemble([{ index: 0, id: 'a', name: 'f' }])).toEqual([{ id: 'a', name: 'f', arguments: '{}' }]);
});
