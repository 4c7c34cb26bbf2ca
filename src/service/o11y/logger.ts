import pino from 'pino';
import type { JsonObject, JsonValue, LogFields, Logger } from '../../core/base/index.ts';
import type { Redactor } from '../../core/security/index.ts';
import { toPlain } from './plain.ts';
import { prettyLine } from './pretty.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Where lines go: anything with a `write`, such as `process.stderr`. */
export interface LogDestination {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

export interface LoggerOptions {
  /** The agent's id; on every line, since several agents may share a process (MT-10). */
  readonly agent: string;
  readonly redactor: Redactor;
  /** Default `info`. */
  readonly level?: LogLevel;
  /** Default: standard error; standard output is for data. */
  readonly destination?: LogDestination;
  /** Default: `pretty` on a terminal, else `json`, one object per line. */
  readonly format?: 'json' | 'pretty';
}

/** What a line says of itself; a field with such a name gets a `_` behind it. */
const OWN_KEYS: ReadonlySet<string> = new Set(['level', 'time', 'agent', 'msg']);

/**
 * The process's logger (OB-1): pino's JSON lines, every string of which passed the redactor before pino saw it, keys,
 * error messages and stack traces included. Writing is synchronous, so the line before a crash is there.
 */
export function createLogger(options: LoggerOptions): Logger {
  const { agent, redactor, level = 'info', destination = process.stderr } = options;
  const pretty = (options.format ?? (destination.isTTY ? 'pretty' : 'json')) === 'pretty';
  const color = destination.isTTY === true;
  const sink = {
    write: (line: string): void => {
      destination.write(pretty ? `${prettyLine(line, { color })}\n` : line);
    },
  };
  const out = pino(
    {
      level,
      base: { agent: redactor.redactText(agent) },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    sink,
  );

  const make = (bound: LogFields): Logger => {
    const at =
      (name: LogLevel) =>
      (message: string, fields: LogFields = {}): void => {
        if (!out.isLevelEnabled(name)) return;
        // Merged here and not by pino's children, which would write a key twice.
        out[name](redactor.redact(ownKeysKept({ ...bound, ...fields })), redactor.redactText(message));
      };
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (fields) => make({ ...bound, ...fields }),
    };
  };
  return make({});
}

function ownKeysKept(fields: LogFields): JsonObject {
  const entries: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined) entries.push([OWN_KEYS.has(key) ? `${key}_` : key, toPlain(value)]);
  }
  return Object.fromEntries(entries);
}
