import fc from 'fast-check';
import { expect, test } from 'vitest';
import { completeStep, createPlan, type PlannedStep } from './index.ts';

const step = (name: string, ...dependsOn: string[]): PlannedStep => ({ name, description: name, dependsOn });

test('PN-1: a plan keeps the order of its steps, and their ids are slugs of their names', () => {
  const plan = createPlan([step('Find the order'), step('Décide!', 'Find the order')], null);
  expect(plan.steps.map(({ id, dependsOn, state }) => ({ id, dependsOn, state }))).toEqual([
    { id: 'find-the-order', dependsOn: [], state: 'pending' },
    { id: 'decide', dependsOn: ['find-the-order'], state: 'pending' },
  ]);
});

test.each([
  ['a cycle', [step('a', 'b'), step('b', 'a')], /cycle: a -> b -> a/],
  ['a step that waits for itself', [step('a', 'a')], /cycle/],
  ['a dangling dependency', [step('a', 'z')], /"z", which is no step/],
  ['two steps of one name', [step('a'), step('A')], /two steps have the id "a"/],
])('PN-1: %s is an error that the model can read', (_what, steps, message) => {
  expect(() => createPlan(steps, null)).toThrow(message);
});

test('PN-1: replacing a plan keeps what is finished', () => {
  const done = completeStep(createPlan([step('a'), step('b')], null), 'a', 'found it');
  const replaced = createPlan([step('c', 'a')], done);
  expect(replaced.steps.map(({ id, state }) => [id, state])).toEqual([
    ['a', 'done'],
    ['c', 'pending'],
  ]);
  expect(() => completeStep(replaced, 'a', 'again')).toThrow(/done already/);
  expect(() => completeStep(replaced, 'nope', '')).toThrow(/steps: a, c/);
});

test('PN-1: a plan whose steps depend only on earlier ones is always accepted, whatever the names', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 12 }),
      fc.infiniteStream(fc.nat()),
      (names, picks) => {
        const steps = names.map((name, at) =>
          step(name, ...names.slice(0, at).filter(() => (picks.next().value ?? 0) % 2 === 0)),
        );
        expect(createPlan(steps, null).steps).toHaveLength(names.length);
      },
    ),
  );
});
