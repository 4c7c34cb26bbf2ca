import type { z } from 'zod';
import { NO_EFFECT_YET, NOT_YET, notYet } from '../not-yet.ts';
import { Problems } from '../problems.ts';
import { fileSchema, type SettingsFile } from '../schema/index.ts';
import { lenientBoolean } from '../schema/values.ts';
import { type Environment, SecretReader } from '../secrets.ts';
import { isTable, mergeTables, type Table, valueAt } from '../tables.ts';
import type { Settings } from '../types.ts';
import { resolveCard, resolveRemoteAgents, resolveStore } from './agent.ts';
import { resolveApprovals } from './approvals.ts';
import { resolveModel } from './model.ts';
import { resolveLimits, resolveO11y, resolvePrices, resolveRetention, resolveRetries } from './operations.ts';
import { absolute, type Scope } from './scope.ts';
import { resolveServer } from './server.ts';
import { resolveTemporal } from './temporal.ts';

/** Where each secret comes from. */
const SECRETS: Readonly<Record<string, string>> = {
  'temporal.api_key': 'TEMPORAL_API_KEY',
  'temporal.encryption_key': 'TINY_HARNESS_ENCRYPTION_KEY',
  'openai.api_key': 'OPENAI_API_KEY',
  'anthropic.api_key': 'ANTHROPIC_API_KEY',
  'server.push_key': 'TINY_HARNESS_PUSH_KEY',
  'o11y.langfuse_public_key': 'LANGFUSE_PUBLIC_KEY',
  'o11y.langfuse_secret_key': 'LANGFUSE_SECRET_KEY',
};

/**
 * Settings from what was written: every problem of it in one error.
 *
 * @throws ConfigError
 */
export function resolveSettings(written: Table, env: Environment, cwd: string): Settings {
  const problems = new Problems();
  const { file, failed } = parse(written, problems);
  const reader = new SecretReader(env, cwd, problems);
  const secrets = Object.fromEntries(
    Object.entries(SECRETS).map(([key, variable]) => {
      const inFile = valueAt(written, key);
      return [key, reader.read({ key, variable, written: typeof inFile === 'string' ? inFile : undefined })];
    }),
  );
  const scope: Scope = {
    file,
    written: (key) => valueAt(written, key) !== undefined,
    value: (key) => {
      const raw = valueAt(written, key);
      return raw === undefined
        ? undefined
        : (valueAt(failed.has(section(key)) ? {} : file, key) ?? lenientBoolean(raw));
    },
    report: problems,
    env,
    cwd,
    secrets,
    warnings: [],
    idle: [],
    // The rules between keys are not checked where a key itself is wrong: its default would be judged instead.
    problems: (name) => (failed.has(name) ? new Problems() : problems),
  };
  if (reader.isSet('OPENAI_BASE_URL'))
    scope.warnings.push(
      'OPENAI_BASE_URL is set and not read; the endpoint is openai.base_url of the configuration',
    );

  scope.idle.push(...NO_EFFECT_YET.filter(scope.written));
  const settings = build(scope);
  refuseNotYet(scope, reader);
  problems.throwIfAny();
  return settings;
}

function build(scope: Scope): Settings {
  const { file } = scope;
  const store = resolveStore(scope);
  const resolved = resolveModel(scope);
  const { openai, anthropic } = 'model' in resolved ? resolved.model : {};
  const sections = {
    agent: { id: file.agent.id, conversation: file.agent.conversation },
    card: resolveCard(scope),
    temporal: resolveTemporal(scope, store.sqlitePath),
    ...resolved,
    server: resolveServer(scope),
    ...(file.mcp_config === undefined ? {} : { mcpConfig: absolute(scope, file.mcp_config) }),
    plugins: file.plugins.map((path) => absolute(scope, path)),
    agents: resolveRemoteAgents(scope),
    store,
    context: {
      turnBudgetTokens: file.context.turn_budget_tokens,
      compactionFraction: file.context.compaction_fraction,
      historyEventBound: file.context.history_event_bound,
    },
    limits: resolveLimits(scope),
    prices: resolvePrices(scope, (openai ?? anthropic)?.models ?? []),
    approvals: resolveApprovals(scope),
    retries: resolveRetries(scope),
    retention: resolveRetention(scope),
    o11y: resolveO11y(scope),
    heartbeat: { intervalMs: file.heartbeat.interval },
  };
  const notes =
    scope.idle.length === 0
      ? []
      : [`keys that are accepted and have no effect here: ${scope.idle.join(', ')}`];
  const secrets = Object.values(scope.secrets).filter((secret) => secret !== undefined);
  return { ...sections, secrets, warnings: scope.warnings, notes };
}

/** The file by its schema. Sections with a problem of their own come back as if absent, and are named in `failed`. */
function parse(
  written: Table,
  problems: Problems,
): { readonly file: SettingsFile; readonly failed: ReadonlySet<string> } {
  const failed = new Set<string>();
  const first = fileSchema.safeParse(written);
  if (first.success) return { file: first.data, failed };
  problems.addIssues(first.error.issues, written);
  // What is merely unknown is left out, so that the rest of its section is still judged.
  const known = withoutUnknown(written, first.error.issues);
  for (const key of Object.keys(known)) {
    const schema = fileSchema.shape[key as keyof typeof fileSchema.shape];
    if (schema.safeParse(known[key]).success) continue;
    failed.add(key);
    delete known[key];
  }
  return { file: fileSchema.parse(known), failed };
}

function withoutUnknown(written: Table, issues: readonly z.core.$ZodIssue[]): Table {
  const known = mergeTables(written);
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys') continue;
    const table = issue.path.reduce<unknown>(
      (at, part) => (isTable(at) ? at[String(part)] : undefined),
      known,
    );
    if (isTable(table)) for (const key of issue.keys) delete table[key];
  }
  return known;
}

/** `openai.api` and `model.provider` have defaults that count, and are refused where those are known. */
const JUDGED_ELSEWHERE: ReadonlySet<string> = new Set(['openai.api', 'model.provider']);

function refuseNotYet(scope: Scope, reader: SecretReader): void {
  for (const { key } of NOT_YET) {
    if (JUDGED_ELSEWHERE.has(key)) continue;
    const isVariable = key === key.toUpperCase();
    const refused = notYet(key, isVariable ? reader.isSet(key) || undefined : scope.value(key));
    if (refused !== undefined) scope.report.add(key, refused);
  }
}

function section(key: string): string {
  return key.split('.', 1)[0] ?? key;
}
