import { Client } from '@modelcontextprotocol/client';
import { HarnessError, messageOf } from '../../../core/base/index.ts';
import { serverEnvironment } from './environment.ts';
import { createHttpTransport } from './http-transport.ts';
import type { McpServerSpec } from './server-spec.ts';
import { StdioTransport } from './stdio-transport.ts';

/** A tool as the server lists it. */
export type ListedTool = Awaited<ReturnType<Client['listTools']>>['tools'][number];

/** The part of the core's `Logger` that this adapter writes to. */
export interface McpLogger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Which server to connect to. `root` and `dataDir` become its `PLUGIN_ROOT` and `PLUGIN_DATA`. */
export interface SessionOptions {
  readonly plugin: string;
  readonly server: string;
  readonly spec: McpServerSpec;
  /** The environment a minimal shell environment is taken from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly root?: string | undefined;
  readonly dataDir?: string | undefined;
  readonly connectTimeoutMs: number;
  readonly listTimeoutMs: number;
  readonly logger: McpLogger;
}

/** One live connection: from the handshake to its end, which comes once. */
export interface Session {
  readonly client: Client;
  readonly tools: readonly ListedTool[];
  /** Whether the server says that it tells of changes of its tools. */
  readonly announcesChanges: boolean;
  /** Lists again, all pages. */
  list(signal: AbortSignal): Promise<readonly ListedTool[]>;
  close(): Promise<void>;
}

/** A page count no honest server reaches; without a limit a dishonest one would fill the memory. */
const MAX_PAGES = 1000;
const GOODBYE_MS = 1000;

/**
 * Connects, shakes hands and lists the tools, each within its time limit.
 *
 * @throws HarnessError `tool.unavailable`; nothing of the attempt is left then.
 */
export async function openSession(
  options: SessionOptions,
  events: { readonly onEnd: () => void; readonly onToolsChanged: () => void },
  signal: AbortSignal,
): Promise<Session> {
  const { plugin, server, spec, logger, connectTimeoutMs, listTimeoutMs } = options;
  const fields = { plugin, server };
  const transport = createTransport(options);
  const client = new Client({ name: 'tiny-harness', version: '1' }, { listMaxPages: MAX_PAGES });
  client.onerror = (error) => logger.debug('MCP connection error', { ...fields, error: messageOf(error) });
  client.setNotificationHandler('notifications/tools/list_changed', events.onToolsChanged);
  const list = async (aborted: AbortSignal) => {
    const request = { timeout: listTimeoutMs, cacheMode: 'bypass' as const };
    return (
      await within(listTimeoutMs, 'listing its tools', aborted, (limit) =>
        client.listTools(undefined, { ...request, signal: limit }),
      )
    ).tools;
  };
  const close = async () => {
    if (transport instanceof StdioTransport) return transport.close();
    const goodbye = transport.terminateSession().catch(() => undefined);
    await within(GOODBYE_MS, 'saying goodbye', undefined, () => goodbye).catch(() => undefined);
    await transport.close();
  };
  try {
    await within(connectTimeoutMs, 'connecting', signal, (limit) =>
      client.connect(transport, { timeout: connectTimeoutMs, signal: limit }),
    );
    const tools = await list(signal);
    if (client.transport === undefined) throw new Error('it ended right after it started');
    client.onclose = events.onEnd;
    const announcesChanges = client.getServerCapabilities()?.tools?.listChanged === true;
    return { client, tools, announcesChanges, list, close };
  } catch (error) {
    await close();
    const said = transport instanceof StdioTransport ? transport.stderr.last.join(' | ') : '';
    throw new HarnessError(
      'tool.unavailable',
      `the MCP server ${plugin}/${server} (${spec.type === 'stdio' ? spec.command : new URL(spec.url).origin}) ` +
        `did not connect: ${causeOf(error)}${said === '' ? '' : `; it wrote: ${said}`}`,
      { cause: error, details: fields },
    );
  }
}

function createTransport(options: SessionOptions) {
  const { plugin, server, spec, env, root, dataDir, logger } = options;
  if (spec.type === 'http') return createHttpTransport(spec.url, spec.headers);
  return new StdioTransport({
    command: spec.command,
    args: spec.args,
    cwd: spec.cwd,
    env: serverEnvironment({ from: env, root, dataDir, manifest: spec.env }),
    onStderr: (line) => logger.debug('MCP server stderr', { plugin, server, line }),
  });
}

/** `fetch failed` says nothing; its cause does. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? `${messageOf(error)} (${messageOf(cause)})` : messageOf(error);
}

/** Bounds work that may ignore its signal. */
async function within<T>(
  ms: number,
  what: string,
  signal: AbortSignal | undefined,
  work: (limit: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = AbortSignal.timeout(ms);
  const limit = signal === undefined ? late : AbortSignal.any([late, signal]);
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(new Error(late.aborted ? `${what} took over ${ms} ms` : 'it was stopped'));
  limit.addEventListener('abort', stop, { once: true });
  if (limit.aborted) stop();
  try {
    return await Promise.race([work(limit), promise]);
  } finally {
    limit.removeEventListener('abort', stop);
  }
}
