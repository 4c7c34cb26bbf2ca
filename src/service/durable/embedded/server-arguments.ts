export interface ServerArguments {
  readonly port: number;
  /** Undefined: everything is kept in memory. */
  readonly databasePath: string | undefined;
  readonly synchronous: 'full' | 'normal';
  readonly logLevel: 'warn' | 'error';
}

/**
 * The arguments of `temporal` for the dev server (EM-1). Its queues are polled at most 20 times a second by default,
 * which costs each workflow task and activity 20 to 40 ms; the three dynamic values lift that. WAL instead of a
 * rollback journal doubles throughput. The remaining ports (metrics, HTTP, internal services) are chosen free by the
 * server itself.
 */
export function serverArguments(options: ServerArguments): string[] {
  const { port, databasePath, synchronous, logLevel } = options;
  const pragmas = ['journal_mode=WAL', `synchronous=${synchronous.toUpperCase()}`];
  const dynamic = ['transfer', 'timer', 'visibility'].map(
    (queue) => `history.${queue}ProcessorMaxPollRPS=2000`,
  );
  return [
    'server',
    'start-dev',
    '--headless',
    ...repeat('--ip', ['127.0.0.1']),
    ...repeat('--port', [String(port)]),
    ...repeat('--db-filename', databasePath === undefined ? [] : [databasePath]),
    ...repeat('--log-level', [logLevel]),
    ...repeat('--sqlite-pragma', pragmas),
    ...repeat('--dynamic-config-value', dynamic),
  ];
}

function repeat(flag: string, values: readonly string[]): string[] {
  return values.flatMap((value) => [flag, value]);
}

/** What the server needs of the environment: no key of the host's, and no `TEMPORAL_*` that would change the CLI. */
const PASSED = 'PATH HOME TMPDIR LANG TZ SystemRoot TEMP TMP USERPROFILE APPDATA LOCALAPPDATA'.split(' ');

/** The environment of the supervisor and the server: `NODE_OPTIONS` of the host is not for them either. */
export function serverEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(PASSED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
