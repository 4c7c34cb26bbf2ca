import { describe, expect, it } from 'vitest';
import {
  type CommandContext,
  CommandRegistry,
  needOf,
  type WaitingQuestion,
} from '../../core/commands/index.ts';
import type { Participant, PlanStep, TaskData } from '../../core/loop/index.ts';
import { COMMANDS } from '../index.ts';

const mara: Participant = { id: 'mara', kind: 'human', role: 'reporter', displayName: 'Mara' };
const desk: Participant = { id: 'desk', kind: 'agent', role: 'assignee', displayName: 'Desk' };

const DATA: TaskData = {
  name: 'Order 1042',
  goal: 'Order 1042',
  type: null,
  description: '',
  acceptanceCriteria: [],
  participants: [mara, desk],
  parentTasks: [],
  subTasks: [],
  plan: null,
  lifecycle: 'conversation',
  model: null,
  reasoningEffort: null,
};

const CONTEXT: CommandContext = {
  agentId: 'desk',
  taskId: 't',
  caller: mara,
  state: 'WORKING',
  subState: null,
  data: DATA,
  waiting: [],
  models: { default: 'qwen3', selectable: ['qwen3', 'llama4'] },
  defaultEffort: null,
};

const registry = new CommandRegistry();
for (const command of COMMANDS) registry.register(command);

function command(name: string) {
  const found = registry.get(name);
  if (found === undefined) throw new Error(`there is no /${name}`);
  return found;
}

function given(name: string, argument = '', context: Partial<CommandContext> = {}) {
  return command(name).run(argument, { ...CONTEXT, ...context });
}

function step(id: string, rest: Partial<PlanStep> = {}): PlanStep {
  return {
    id,
    name: id,
    description: '',
    dependsOn: [],
    state: 'pending',
    output: null,
    linkedTasks: [],
    ...rest,
  };
}

function approval(id: string, rest: Partial<WaitingQuestion> = {}): WaitingQuestion {
  return {
    id,
    text: 'May shop/pay run?',
    participantIds: ['mara'],
    expiresAt: null,
    approval: { tool: 'shop/pay', arguments: { amount: 89, to: { iban: 'DE1' } } },
    ...rest,
  };
}

describe('the commands', () => {
  it('SF-5: are these, with what each needs', () => {
    const shown = COMMANDS.map(({ name, argumentHint }) => `/${name} ${argumentHint}`.trimEnd());
    expect(shown).toEqual([
      '/approvals',
      '/cancel',
      '/complete',
      '/effort [low|medium|high|default]',
      '/model [name|default]',
      '/status',
      '/sub-task <what is to be done>',
    ]);
    const need = (name: string, argument = '') => needOf(command(name), argument);
    expect(['approvals', 'status', 'effort', 'model'].map((name) => need(name))).toEqual(
      Array(4).fill('look'),
    );
    expect([need('effort', 'low'), need('model', 'qwen3'), need('sub-task', 'x')]).toEqual(
      Array(3).fill('write'),
    );
    expect([need('complete'), need('cancel')]).toEqual(['complete', 'cancel']);
  });

  it.each(['status', 'approvals', 'complete', 'cancel'])('/%s refuses an argument', (name) => {
    expect(() => needOf(command(name), 'the second order')).toThrow(`usage: /${name}`);
  });

  it.each(['complete', 'cancel'])('/%s is carried out, not run', (name) => {
    expect(() => given(name)).toThrow(expect.objectContaining({ code: 'internal' }));
  });
});

describe('/model', () => {
  it('shows the model and those to choose from', () => {
    expect(given('model')).toEqual({
      text: 'model: qwen3 (the default)\nto choose from: qwen3, llama4, default',
    });
    expect(given('model', '', { data: { ...DATA, model: 'llama4' } })).toMatchObject({
      text: expect.stringMatching(/^model: llama4\n/),
    });
  });

  it('chooses a model, and takes the choice back', () => {
    expect(given('model', 'llama4')).toEqual({
      text: 'model: llama4',
      change: { kind: 'set', model: 'llama4' },
    });
    expect(given('model', 'default', { data: { ...DATA, model: 'llama4' } })).toEqual({
      text: 'model: qwen3 (the default)',
      change: { kind: 'set', model: null },
    });
  });

  it('refuses one that is not to choose, with those that are', () => {
    expect(() => given('model', 'gpt-2')).toThrow(
      expect.objectContaining({
        code: 'input.invalid',
        message: 'there is no model "gpt-2" to choose; there are: qwen3, llama4, default',
      }),
    );
  });
});

describe('/effort', () => {
  it('shows the effort', () => {
    expect(given('effort')).toEqual({ text: 'effort: as the model has it (the default)' });
    expect(given('effort', '', { defaultEffort: 'low' })).toEqual({ text: 'effort: low (the default)' });
    expect(given('effort', '', { data: { ...DATA, reasoningEffort: 'high' } })).toEqual({
      text: 'effort: high',
    });
  });

  it.each(['low', 'medium', 'high'] as const)('chooses %s', (reasoningEffort) => {
    expect(given('effort', reasoningEffort)).toEqual({
      text: `effort: ${reasoningEffort}`,
      change: { kind: 'set', reasoningEffort },
    });
  });

  it('takes the choice back', () => {
    const data = { ...DATA, reasoningEffort: 'high' as const };
    expect(given('effort', 'default', { data, defaultEffort: 'low' })).toEqual({
      text: 'effort: low (the default)',
      change: { kind: 'set', reasoningEffort: null },
    });
  });

  it('answers how it is used to anything else', () => {
    expect(() => given('effort', 'much')).toThrow(
      expect.objectContaining({ code: 'input.invalid', message: 'usage: /effort [low|medium|high|default]' }),
    );
  });
});

describe('/sub-task', () => {
  it('starts one that is named after the first line of its goal', () => {
    expect(given('sub-task', 'Find the invoice\nof May')).toEqual({
      text: 'starts the sub-task "Find the invoice"',
      subTask: { name: 'Find the invoice', goal: 'Find the invoice\nof May' },
    });
  });

  it('answers how it is used when it says nothing', () => {
    expect(() => given('sub-task')).toThrow('usage: /sub-task <what is to be done>');
  });
});

describe('/status', () => {
  it('is short for a task that only works', () => {
    expect(given('status')).toEqual({ text: 'Order 1042\nWORKING' });
  });

  it('shows the state and why it waits, the plan, who is asked what, and sub-tasks', () => {
    const steps = [
      step('Find the order', { state: 'done' }),
      step('Check the stock', { state: 'active' }),
      step('Ask the bank', { state: 'failed' }),
      step('Pay back', { dependsOn: ['find-the-order', 'ask-the-bank'] }),
    ];
    const link = { agent: null, state: null, subState: null };
    const subTasks = [
      { ...link, taskId: 't1' },
      {
        taskId: 't2',
        agent: { kind: 'agent' as const, id: 'bank', version: null },
        state: 'INPUT_REQUIRED' as const,
        subState: 'awaiting-answer' as const,
      },
    ];
    const question = { text: 'Which one?\nA or B?', participantIds: ['mara'], approval: null };
    const outcome = given('status', '', {
      state: 'INPUT_REQUIRED',
      subState: 'awaiting-answer',
      data: { ...DATA, plan: { steps }, subTasks },
      waiting: [
        { id: 'q1', expiresAt: '2026-10-05T12:00:00.000Z', ...question },
        approval('q2', { participantIds: ['ada', 'mara'] }),
      ],
    });
    expect(outcome).toEqual({
      text: `Order 1042
INPUT_REQUIRED: waits for an answer
plan, 1 of 4 steps done:
  [x] Find the order
  [~] Check the stock
  [!] Ask the bank
  [ ] Pay back  (after find-the-order, ask-the-bank)
asked:
  mara (until 2026-10-05T12:00:00.000Z): Which one?
    A or B?
  ada or mara: may shop/pay run? See /approvals
sub-tasks:
  t1: not heard of yet
  t2 at bank: INPUT_REQUIRED (awaiting-answer)`,
    });
  });

  it('says what else a task may wait for', () => {
    const state = 'INPUT_REQUIRED' as const;
    expect(given('status', '', { state, subState: 'awaiting-next-message' })).toEqual({
      text: 'Order 1042\nINPUT_REQUIRED: waits for the next message',
    });
    expect(given('status', '', { state })).toEqual({ text: 'Order 1042\nINPUT_REQUIRED: waits for input' });
    const participants = [desk, { ...mara, role: 'assignee' as const }];
    expect(given('status', '', { state, data: { ...DATA, participants } })).toEqual({
      text: 'Order 1042\nINPUT_REQUIRED: waits for mara to do it',
    });
  });
});

describe('/approvals', () => {
  it('says when there are none, whatever else is asked', () => {
    expect(given('approvals', '', { waiting: [approval('q1', { approval: null })] })).toEqual({
      text: 'no call waits for approval',
    });
  });

  it('PC-12: shows the exact arguments, and how to decide', () => {
    const waiting = [approval('q1', { expiresAt: '2026-10-05T12:00:00.000Z' })];
    expect(given('approvals', '', { waiting })).toEqual({
      text: `shop/pay, to be approved by mara, denied at 2026-10-05T12:00:00.000Z
  {
    "amount": 89,
    "to": {
      "iban": "DE1"
    }
  }
  answer approve or deny`,
    });
  });

  it('asks for a reply to one of them when several wait for the caller, and says which are others’', () => {
    const waiting = [
      approval('q1'),
      approval('q2'),
      approval('q3', { participantIds: ['ada', 'al', 'wim'] }),
    ];
    const { text } = given('approvals', '', { waiting }) as { text: string };
    expect(text.split('\n').filter((line) => /answer/.test(line))).toEqual([
      '  answer approve or deny, in reply to q1',
      '  answer approve or deny, in reply to q2',
      '  only ada, al or wim can answer',
    ]);
  });

  it('offers a plain answer to who has but one to decide', () => {
    const waiting = [approval('q1'), approval('q2', { participantIds: ['ada'] })];
    const { text } = given('approvals', '', { waiting }) as { text: string };
    expect(text).toMatch(/\n {2}answer approve or deny\n/);
  });
});
