import { join } from 'node:path';
import { defined } from '../tables.ts';
import type { CardSettings, RemoteAgentSettings, Settings } from '../types.ts';
import { absolute, home, type Scope } from './scope.ts';

const CARD = {
  name: 'tiny-harness',
  description:
    'An agent that plans, uses tools, asks people when it must, and keeps its tasks across restarts.',
};

/** `[agent] name, description` and those of `[card]` are the same thing (CF-5). */
export function resolveCard(scope: Scope): CardSettings {
  const { agent, card } = scope.file;
  for (const key of ['name', 'description'] as const) {
    if (agent[key] !== undefined && card[key] !== undefined && agent[key] !== card[key])
      scope.problems('card').add(`card.${key}`, `differs from agent.${key}; give one of the two`);
  }
  return {
    name: card.name ?? agent.name ?? CARD.name,
    description: card.description ?? agent.description ?? CARD.description,
    version: card.version,
    skills: card.skills,
  };
}

export function resolveRemoteAgents(scope: Scope): RemoteAgentSettings[] {
  return scope.file.agents.map(({ id, url, version, updates, follow_interval }) => ({
    ...defined({ version }),
    id,
    url,
    updates: updates === 'push' ? 'auto' : updates,
    followIntervalMs: follow_interval,
  }));
}

/** Agents that differ only in their id never share a store (SR-7). */
export function resolveStore(scope: Scope): Settings['store'] {
  const { sqlite_path: written } = scope.file.store;
  const folder = scope.env.TINY_HARNESS_HOME || join(home(scope.env), '.tiny-harness');
  return { sqlitePath: absolute(scope, written ?? join(folder, scope.file.agent.id, 'store.db')) };
}
