import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { SqliteStore } from '../../src/adapters/store/sqlite/index.ts';
import { INTRINSICS, loadSystemPrompt } from '../../src/builtin/index.ts';
import { CommandRegistry } from '../../src/core/commands/index.ts';
import { HookChain } from '../../src/core/hooks/index.ts';
import type { CallInput, TurnInput } from '../../src/core/loop/index.ts';
import type { LlmPort } from '../../src/core/models/index.ts';
import { Journal, LocalBus } from '../../src/core/persistence/index.ts';
import { createRedactor, createSecretRegistry } from '../../src/core/security/index.ts';
import { type Tool, ToolRegistry } from '../../src/core/tools/index.ts';
import { Conversations } from '../../src/service/durable/activities/conversation.ts';
import type { ActivityDeps, Run } from '../../src/service/durable/activities/deps.ts';
import { FakeClock } from '../../src/testing/index.ts';
import { DATA } from '../store/contract.ts';
import { testFolder } from './harness.ts';

/** The activities' parts over a real store with one task in it, whose first message says "Paint the shed". */
export interface ActivityRig {
  readonly deps: ActivityDeps;
  readonly conversations: Conversations;
  readonly run: Run;
  readonly store: SqliteStore;
  turn(rest?: Partial<TurnInput>): TurnInput;
  call(ordinal: number, rest?: Partial<CallInput>): CallInput;
}

export async function activityRig(
  llm: LlmPort,
  options: {
    readonly tools?: readonly Tool[];
    readonly hooks?: HookChain;
    readonly secrets?: readonly string[];
    readonly toolResultLimit?: number;
    readonly prices?: ActivityDeps['prices'];
  } = {},
): Promise<ActivityRig> {
  const store = SqliteStore.open(join(testFolder(), 'store.db'));
  onTestFinished(() => store.close());
  const secrets = createSecretRegistry();
  secrets.add(options.secrets ?? []);
  const redactor = createRedactor(() => secrets.snapshot());
  const journal = new Journal(store, new LocalBus(), redactor);
  const tools = new ToolRegistry();
  for (const tool of options.tools ?? []) tools.register(tool);
  await journal.admit({
    inbox: {
      key: 'm1',
      taskId: 'task',
      sender: 'alice',
      senderKind: 'human',
      messageId: 'm1',
      bodyHash: '',
      message: { parts: [{ kind: 'text', text: 'Paint the shed' }], extensions: [], referenceTaskIds: [] },
      mail: { key: 'm1', messageId: 'm1', sender: 'alice', role: 'reporter', kind: 'human' },
    },
    task: { id: 'task', contextId: 'context', reporter: 'alice', data: DATA },
    entries: [
      {
        key: 'submitted',
        exchange: 0,
        body: { kind: 'state', state: 'SUBMITTED', subState: null, text: null, questions: [] },
      },
      { key: 'message:m1', exchange: 1, body: { kind: 'message', inbox: 'm1' } },
    ],
  });
  const deps: ActivityDeps = {
    agentId: 'painter',
    agent: { name: 'Painter', description: 'Paints.' },
    journal,
    hooks: options.hooks ?? new HookChain(),
    llm,
    tools,
    commands: new CommandRegistry(),
    approvals: { rules: [], approvers: ['admin', 'reporter'] },
    admission: { admit: notHere, open: notHere },
    channels: { deliver: async () => {} },
    prices: options.prices ?? new Map(),
    selectableModels: ['scripted'],
    intrinsics: new Map(INTRINSICS.map((each) => [each.name, each])),
    systemPrompt: loadSystemPrompt(),
    toolResultLimit: options.toolResultLimit ?? 1000,
    clock: new FakeClock(),
    redactText: (text) => redactor.redactText(text),
    failpoint: () => {},
    report: () => {},
  };
  const ref = { taskId: 'task', storeId: store.identity };
  return {
    deps,
    store,
    conversations: new Conversations(store),
    run: { attempt: 1, signal: new AbortController().signal },
    turn: (rest = {}) => ({
      ...ref,
      exchange: 1,
      turn: 0,
      mail: [{ type: 'message', key: 'm1' }],
      unread: null,
      interrupted: [],
      lifecycle: 'conversation',
      conversation: 'open',
      openQuestions: [],
      waitingCalls: [],
      openChildren: 0,
      actors: ['alice'],
      tokensTotal: 0,
      costTotal: null,
      ...rest,
    }),
    call: (ordinal, rest = {}) => ({ ...ref, exchange: 1, turn: 0, ordinal, mode: 'run', ...rest }),
  };
}

function notHere(): Promise<never> {
  return Promise.reject(new Error('activities are tested without a way in'));
}
