import { realpathSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../../core/base/index.ts';
import { Secret } from '../../../core/security/index.ts';

/** A value of an environment variable or header: a secret when it came from our own environment. */
export type McpValue = string | Secret;

/** How to reach one MCP server, with everything expanded and checked. */
export type McpServerSpec = {
  /** Milliseconds for one call of its tools, when its entry says so. */
  readonly timeoutMs?: number;
} & (
  | {
      readonly type: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, McpValue>>;
      /** Absolute, symlinks followed. */
      readonly cwd: string;
    }
  | {
      readonly type: 'http';
      readonly url: string;
      readonly headers: Readonly<Record<string, McpValue>>;
    }
);

/** Where the servers of one file belong. */
export interface McpServersScope {
  /** `${PLUGIN_ROOT}`: the folder of the file. */
  readonly root: string;
  /** `${PLUGIN_DATA}`. */
  readonly dataDir?: string | undefined;
  /** What `env:NAME` values are read from. Absent for files we do not trust with it: then such a value is plain text. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

const strings = z.record(z.string(), z.string());
/** Some clients write it in seconds: a value that can only be meant so is refused, not obeyed. */
const timeout = z
  .int('must be a whole number of milliseconds')
  .min(1_000, 'is in milliseconds, and must be at least 1000')
  .max(3_600_000, 'must be at most 3600000 milliseconds, an hour')
  .optional();
// Other clients keep keys of their own beside ours (`alwaysAllow`): loose on purpose.
const stdioEntry = z.looseObject({
  timeout,
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: strings.default({}),
  cwd: z.string().optional(),
});
const httpEntry = z.looseObject({
  timeout,
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
  headers: strings.default({}),
});

const HTTP_TYPES = ['http', 'streamable-http', 'streamableHttp'];

/**
 * Reads one entry of `mcpServers`. Collects what is wrong, one line each, with the key it is about; undefined when
 * there was any. Only `${PLUGIN_ROOT}` and `${PLUGIN_DATA}` expand, in `args`, `env` and `cwd` (PL-4).
 */
export function readServerSpec(
  entry: unknown,
  scope: McpServersScope,
  problem: (key: string, text: string) => void,
): McpServerSpec | undefined {
  let failed = false;
  const report: Report = (key, text) => {
    failed = true;
    problem(key, text);
    return undefined;
  };
  const spec = readEntry(entry, scope, report);
  return failed ? undefined : spec;
}

/** Answers undefined, so that a reader can return what it answers. */
type Report = (key: string, text: string) => undefined;

function readEntry(entry: unknown, scope: McpServersScope, report: Report): McpServerSpec | undefined {
  const shape = z.looseObject({}).safeParse(entry);
  if (!shape.success) return report('', 'must be an object');
  const { type, command, url } = shape.data;
  if (type === 'sse')
    return report(
      'type',
      'the legacy transport "sse" is not supported; use "http" with a streamable HTTP url',
    );
  if (type !== undefined && type !== 'stdio' && !HTTP_TYPES.includes(type as string))
    return report('type', `must be "stdio" or "http", not ${JSON.stringify(type)}`);
  if ((command === undefined) === (url === undefined))
    return report('', 'needs either a command or a url, and not both');
  if (type !== undefined && (type === 'stdio') !== (command !== undefined))
    return report(
      'type',
      `${JSON.stringify(type)} does not go with a ${command === undefined ? 'url' : 'command'}`,
    );

  if (command !== undefined) {
    const parsed = stdioEntry.safeParse(entry);
    if (!parsed.success) return reportIssues(parsed.error, report);
    return {
      type: 'stdio',
      command: parsed.data.command,
      args: parsed.data.args.map((arg, at) => expand(arg, scope, `args.${at}`, report)),
      env: readValues('env', parsed.data.env, scope, report, true),
      cwd: readCwd(parsed.data.cwd, scope, report),
      ...timeoutOf(parsed.data.timeout),
    };
  }
  const parsed = httpEntry.safeParse(entry);
  if (!parsed.success) return reportIssues(parsed.error, report);
  return {
    type: 'http',
    url: parsed.data.url,
    headers: readValues('headers', parsed.data.headers, scope, report, false),
    ...timeoutOf(parsed.data.timeout),
  };
}

function timeoutOf(timeoutMs: number | undefined): { timeoutMs?: number } {
  return timeoutMs === undefined ? {} : { timeoutMs };
}

function reportIssues(error: z.ZodError, report: Report): undefined {
  for (const issue of error.issues) report(issue.path.map(String).join('.'), issue.message);
}

function expand(text: string, scope: McpServersScope, key: string, report: Report): string {
  return text.replace(/\$\{PLUGIN_(ROOT|DATA)\}/g, (whole, which: string) => {
    const folder = which === 'ROOT' ? scope.root : scope.dataDir;
    if (folder === undefined) report(key, `uses ${whole}, but there is no data directory`);
    return folder ?? whole;
  });
}

function readValues(
  group: 'env' | 'headers',
  values: Readonly<Record<string, string>>,
  scope: McpServersScope,
  report: Report,
  expands: boolean,
): Record<string, McpValue> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]): [string, McpValue] => {
      const key = `${group}.${name}`;
      const variable =
        scope.env === undefined ? undefined : /^env:([A-Za-z_][A-Za-z0-9_]*)$/.exec(value)?.[1];
      if (variable === undefined) return [name, expands ? expand(value, scope, key, report) : value];
      const found = scope.env?.[variable];
      if (found === undefined || found === '') report(key, `the environment variable ${variable} is not set`);
      return [name, new Secret(found ?? '')];
    }),
  );
}

/** The working directory, which must lie in the root or the data directory once symlinks are followed (PL-4). */
function readCwd(cwd: string | undefined, scope: McpServersScope, report: Report): string {
  const wanted = resolve(scope.root, expand(cwd ?? '.', scope, 'cwd', report));
  try {
    const real = realpathSync(wanted);
    const allowed = [scope.root, scope.dataDir].filter((folder) => folder !== undefined);
    if (!allowed.some((folder) => isInside(real, realpathSync(folder))))
      report('cwd', `"${wanted}" is outside the folder of the file and the data directory`);
    return real;
  } catch (error) {
    report('cwd', messageOf(error));
    return wanted;
  }
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
