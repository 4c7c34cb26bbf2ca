import type { Client } from '@modelcontextprotocol/client';
import { HarnessError, type JsonObject, messageOf } from '../../../core/base/index.ts';
import type { ToolContext, ToolResult } from '../../../core/tools/index.ts';
import { callError, endsConnection, unavailable } from './call-error.ts';
import { withAnswerWatch } from './http-transport.ts';
import { toToolResult } from './result.ts';
import {
  type ListedTool,
  type McpLogger,
  openSession,
  type Session,
  type SessionOptions,
} from './session.ts';
import { pause, platformSignal } from './signals.ts';
import { hashOf, type McpTool, toTools } from './tool.ts';

/** `down`: the server is lost and being reconnected to; `closed` is final. */
export type McpConnectionState = 'ready' | 'down' | 'closed';

/** Which server to connect to, and how long to wait for it. */
export interface ConnectMcpOptions
  extends Omit<SessionOptions, 'connectTimeoutMs' | 'listTimeoutMs' | 'logger'> {
  /** Milliseconds for the process to start and shake hands; 15 seconds. */
  readonly connectTimeoutMs?: number;
  /** Milliseconds for listing the tools, all pages; 10 seconds. */
  readonly listTimeoutMs?: number;
  /** Milliseconds for one call, unless the server's own entry says; 5 minutes. */
  readonly callTimeoutMs?: number;
  /** Milliseconds after which a server that cannot tell of a change is asked for its tools again; a minute. */
  readonly listingAgeMs?: number;
  readonly logger: McpLogger;
  /** Gives up the first connection attempt. */
  readonly signal?: AbortSignal;
  /** Milliseconds before the first and at most between two attempts to reconnect; 250 ms and 30 seconds. */
  readonly reconnect?: { readonly initialMs?: number; readonly maxMs?: number };
  /** Told of every change, after it happened. */
  readonly onState?: (state: McpConnectionState) => void;
}

/** A server and its tools. The tools stay what they were when it was connected, whatever the server does later. */
export interface McpConnection {
  readonly plugin: string;
  readonly server: string;
  /** Sorted by name. */
  readonly tools: readonly McpTool[];
  readonly state: McpConnectionState;
  /** Ends the connection and the server's process; calls in flight fail. Resolves when nothing is left. */
  close(): Promise<void>;
}

/**
 * Connects to an MCP server and lists its tools (TL-1).
 *
 * @throws HarnessError `tool.unavailable` when the server does not connect; nothing is left of the attempt then.
 */
export async function connectMcpServer(options: ConnectMcpOptions): Promise<McpConnection> {
  const connection = new Connection(options);
  await connection.open(options.signal);
  return connection;
}

const CALL_TIMEOUT_MS = 300_000;
const LISTING_AGE_MS = 60_000;
/** A session this long was a healthy one: the next loss starts with the shortest wait again. */
const STABLE_MS = 30_000;

/**
 * Invariants:
 * 1. `tools` is set once. A call runs only when the server lists the tool now with the hash it had then (TL-5). "Now"
 *    is at most a minute ago; a server that announces changes, over pipes that lose nothing, is believed.
 * 2. A call never waits for a server that is down: it fails at once, and the reconnecting goes on beside it (TL-7).
 * 3. At most one session is live, and at most one attempt to reconnect is under way.
 * 4. After `close()` no session, timer or process is left and none is started.
 */
class Connection implements McpConnection {
  readonly plugin: string;
  readonly server: string;
  tools: readonly McpTool[] = [];
  readonly #options: SessionOptions & ConnectMcpOptions;
  readonly #stop = new AbortController();
  /** Hashes by the server's own names, as of the last listing. */
  #listed = new Map<string, string>();
  #listedAt = 0;
  #session: Session | undefined;
  #connectedAt = 0;
  #delay: number;
  #relisting: Promise<void> | undefined;
  #reconnecting: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(options: ConnectMcpOptions) {
    this.plugin = options.plugin;
    this.server = options.server;
    this.#options = {
      ...options,
      connectTimeoutMs: options.connectTimeoutMs ?? 15_000,
      listTimeoutMs: options.listTimeoutMs ?? 10_000,
    };
    this.#delay = this.#initialDelay;
  }

  get #initialDelay(): number {
    return this.#options.reconnect?.initialMs ?? 250;
  }

  get state(): McpConnectionState {
    if (this.#stop.signal.aborted) return 'closed';
    return this.#session === undefined ? 'down' : 'ready';
  }

  async open(signal?: AbortSignal): Promise<void> {
    const listed = await this.#connect(signal ?? this.#stop.signal);
    this.tools = toTools(
      listed,
      `${this.plugin}/${this.server}`,
      this.#options.logger,
      (tool, remoteName) => (args, context) => this.#run(tool, remoteName, args, context),
    );
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#stop.abort();
    const session = this.#session;
    this.#session = undefined;
    await Promise.all([session?.close(), this.#reconnecting]);
    this.#options.onState?.('closed');
  }

  async #connect(signal: AbortSignal): Promise<readonly ListedTool[]> {
    const session: Session = await openSession(
      this.#options,
      { onEnd: () => this.#lost(session), onToolsChanged: () => this.#relist() },
      signal,
    );
    if (this.#stop.signal.aborted) {
      await session.close();
      throw new Error('the connection was closed');
    }
    this.#session = session;
    this.#connectedAt = performance.now();
    this.#remember(session.tools);
    return session.tools;
  }

  #remember(listed: readonly ListedTool[]): void {
    this.#listed = new Map(listed.map((tool) => [tool.name, hashOf(tool)]));
    this.#listedAt = performance.now();
  }

  /**
   * Lists again before a call when the listing is old. Over HTTP a change may be announced where nobody hears it, and
   * some servers announce none. A server that does not list now is called all the same: its answer will tell.
   */
  async #refresh(session: Session): Promise<void> {
    if (this.#options.spec.type === 'stdio' && session.announcesChanges) return;
    if (performance.now() - this.#listedAt < (this.#options.listingAgeMs ?? LISTING_AGE_MS)) return;
    this.#listedAt = performance.now();
    this.#relisting ??= this.#list(session, () => {});
    await this.#relisting;
  }

  /** The server says that its tools changed: calls wait for the new listing, which has its own time limit. */
  #relist(): void {
    const session = this.#session;
    // Without an answer, what its tools are now is not known.
    if (session !== undefined) this.#relisting = this.#list(session, () => this.#lost(session));
  }

  #list(session: Session, failed: () => void): Promise<void> {
    const listing: Promise<void> = session
      .list(this.#stop.signal)
      .then((listed) => {
        if (this.#session === session) this.#remember(listed);
      }, failed)
      .finally(() => {
        if (this.#relisting === listing) this.#relisting = undefined;
      });
    return listing;
  }

  #lost(session: Session): void {
    if (this.#session !== session) return;
    this.#session = undefined;
    const { plugin, server, logger, onState } = this.#options;
    logger.warn('MCP server lost; reconnecting', { plugin, server });
    onState?.('down');
    // A server that dies as soon as it is up must not be started over and over.
    if (performance.now() - this.#connectedAt > STABLE_MS) this.#delay = this.#initialDelay;
    this.#reconnecting = this.#reconnecting.then(() => this.#reconnect(session));
  }

  async #reconnect(old: Session): Promise<void> {
    const { plugin, server, logger, reconnect, onState } = this.#options;
    await old.close();
    while (!this.#stop.signal.aborted) {
      await pause(this.#delay, this.#stop.signal);
      this.#delay = Math.min(this.#delay * 2, reconnect?.maxMs ?? 30_000);
      if (this.#stop.signal.aborted) return;
      try {
        await this.#connect(this.#stop.signal);
        logger.warn('MCP server connected again', { plugin, server });
        onState?.('ready');
        return;
      } catch (error) {
        logger.debug('MCP server still down', { plugin, server, error: messageOf(error) });
      }
    }
  }

  async #run(tool: McpTool, remoteName: string, args: JsonObject, context: ToolContext): Promise<ToolResult> {
    await this.#relisting;
    if (this.#session !== undefined) await this.#refresh(this.#session);
    const session = this.#session;
    if (session === undefined) throw unavailable(tool, `its server is ${this.state}`);
    if (this.#listed.get(remoteName) !== tool.hash)
      throw new HarnessError(
        'tool.schema_changed',
        `${tool.name} was not called: its server describes it differently now, or not at all. ` +
          'It must be registered again.',
        { details: { tool: tool.name } },
      );
    const { signal, release } = platformSignal(context.signal);
    try {
      return toToolResult(
        await withAnswerWatch(signal, (given) => this.#call(session.client, remoteName, args, given)),
      );
    } catch (error) {
      if (endsConnection(error)) this.#lost(session);
      throw callError(tool, error, { canceled: signal.aborted });
    } finally {
      release();
    }
  }

  #call(client: Client, name: string, args: JsonObject, signal: AbortSignal) {
    return client.callTool(
      { name, arguments: { ...args } },
      {
        signal,
        timeout: this.#options.spec.timeoutMs ?? this.#options.callTimeoutMs ?? CALL_TIMEOUT_MS,
        // Without an output schema the SDK checks no result: one that took effect must not be lost over its shape.
        toolDefinition: { name, inputSchema: { type: 'object' } },
      },
    );
  }
}
