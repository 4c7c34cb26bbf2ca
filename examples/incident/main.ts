// A support agent, two people and a ledger: nothing is written into it that the right person has not approved.
import assert from 'node:assert/strict';
import { openDesk } from './desk.ts';
import { approvalsIn, Person, questionsIn, stateOf } from './person.ts';

await using desk = await openDesk();
const ada = new Person('ada', desk.url);
const bob = new Person('bob', desk.url);

// Ada reports an outage. Bob is on her task as its admin: he decides about money.
let task = await ada.opens('My order 2207 was down for six hours last night. What will you do about it?', {
  ada: 'reporter',
  bob: 'admin',
});

// The agent makes a plan, and asks her one thing before it does anything.
const [question] = questionsIn(task);
assert.deepEqual(question?.options, ['credit', 'longer contract']);
task = await ada.answers(task, question, 'credit');

// It wants to give 25 EUR. That is over the limit of the configuration, so Bob is asked, with the exact arguments.
const [first] = approvalsIn(task);
assert.deepEqual(first?.arguments, { order: 2207, amount: 25, reason: 'six hours without service' });
assert.deepEqual(first.approvers, ['bob']);

// What Bob writes is no decision, however it sounds. Nothing runs; the agent asks again for what he would agree to.
task = await bob.says(task, 'Sure, but only 10.');
assert.deepEqual(desk.ledger(), []);
const second = approvalsIn(task).find(({ id }) => id !== first.id);
assert.deepEqual(second?.arguments, { order: 2207, amount: 10, reason: 'six hours without service' });

// A decision names the call and the digest of its arguments. Approved is this call, and no other.
task = await bob.decides(task, second, 'approve');
assert.equal(desk.ledger().length, 1);

// The first request still waits. It is the only one now, so a plain "deny" will do; then there is nothing left to wait for.
assert.deepEqual(approvalsIn(task), [first]);
task = await bob.says(task, 'deny');
assert.equal(stateOf(task), 'COMPLETED');

assert.deepEqual(desk.ledger(), [
  { number: 1, order: 2207, amount: 10, reason: 'six hours without service' },
]);
console.log('\nThe ledger has one line, and the task is completed.');
