import type { JsonObject, JsonValue } from '../core/base/index.ts';
import type { Settings } from '../service/harness/index.ts';

/** What settings say beside the configuration. */
const NO_KEYS = ['secrets', 'warnings', 'notes', 'noModel'] as const satisfies readonly (keyof Settings)[];

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/**
 * Settings in the shape and with the keys of a configuration file, which says the same (but for secrets, which come
 * from the environment). What was filled in is there, what has no meaning beside the rest is not.
 */
export function asWritten(settings: Settings): JsonObject {
  const { model, mcpConfig, temporal, server, approvals, prices } = settings;
  const { bindHost, bindPort, baseUrl, baseUrlFromBind } = server;
  return {
    ...(mcpConfig === undefined ? {} : { mcp_config: mcpConfig }),
    ...table(settings, [...NO_KEYS, 'model', 'mcpConfig', 'temporal', 'server', 'approvals', 'prices']),
    ...(model === undefined ? {} : { model: { provider: model.provider } }),
    ...(model?.openai === undefined ? {} : { openai: table(model.openai) }),
    ...(model?.anthropic === undefined ? {} : { anthropic: table(model.anthropic) }),
    temporal: {
      ...table(temporal, ['embedded', 'tls']),
      ...(temporal.mode === 'embedded'
        ? { embedded: table(temporal.embedded) }
        : { tls: tlsOf(temporal.tls) }),
    },
    server: {
      bind: `${bindHost.includes(':') ? `[${bindHost}]` : bindHost}:${bindPort}`,
      ...(baseUrlFromBind ? {} : { base_url: baseUrl }),
      // The push key comes from the environment alone.
      ...table(server, ['bindHost', 'bindPort', 'baseUrl', 'baseUrlFromBind', 'pushKey']),
    },
    // By the names of models, which are nobody's keys.
    ...(Object.keys(prices).length === 0 ? {} : { prices: JSON.parse(JSON.stringify(prices)) as JsonObject }),
    approvals: {
      ...table(approvals, ['rules']),
      rules: approvals.rules.map((rule) => ({
        ...table(rule, ['annotations', 'arguments']),
        ...(rule.annotations === undefined ? {} : { annotations: hints(rule.annotations) }),
        // A JSON Schema has keys of its own.
        ...(rule.arguments === undefined ? {} : { arguments: rule.arguments }),
      })),
    },
  };
}

/** Nothing but that it is on is `true`. */
function tlsOf(tls: Settings['temporal']['tls']): JsonValue {
  if (tls === undefined) return false;
  return Object.keys(tls).length === 0 || table(tls);
}

/** A table of settings, but for some keys: in snake_case, durations as text. Secrets print as `[secret]`. */
function table<T extends object>(settings: T, but: readonly (keyof T)[] = []): JsonObject {
  const plain = JSON.parse(JSON.stringify(settings)) as JsonObject;
  return Object.fromEntries(
    Object.entries(plain)
      .filter(([key]) => !but.includes(key as keyof T))
      .map(([key, value]) =>
        key.endsWith('Ms') && typeof value === 'number'
          ? [snakeCase(key.slice(0, -2)), durationText(value)]
          : [snakeCase(key), written(value)],
      ),
  );
}

function written(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(written);
  return typeof value === 'object' && value !== null ? table(value) : value;
}

/** `readOnlyHint` of a tool is `read_only` of a rule. */
function hints(annotations: object): JsonObject {
  return Object.fromEntries(
    Object.entries(annotations).map(([key, value]) => [
      snakeCase(key.replace(/Hint$/, '')),
      value as JsonValue,
    ]),
  );
}

function snakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** In the largest unit that it is a whole number of. */
function durationText(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms > 0 && ms % each === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}
