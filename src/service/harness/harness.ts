import { realpathSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Client } from '@temporalio/client';
import { SqliteStore } from '../../adapters/store/sqlite/index.ts';
import { INTRINSICS, loadSystemPrompt } from '../../builtin/index.ts';
import { ConfigError, type Logger, messageOf } from '../../core/base/index.ts';
import { HookChain } from '../../core/hooks/index.ts';
import { Journal, LocalBus } from '../../core/persistence/index.ts';
import { createRedactor, secretRegistry } from '../../core/security/index.ts';
import { A2AServer, buildCard, Projection, type RequestOrigin } from '../a2a/index.ts';
import { Admission } from '../admission/index.ts';
import { Channels } from '../channels/index.ts';
import { createActivities } from '../durable/activities/index.ts';
import { TaskClient } from '../durable/client/index.ts';
import { installRuntime, type RunningWorker, startWorker } from '../durable/worker/index.ts';
import { toNodeHandler } from '../mount/index.ts';
import { createLogger } from '../o11y/index.ts';
import { claim } from './claims.ts';
import { createCommands } from './commands.ts';
import { HarnessAlreadyStartedError, HarnessNotStartedError, HarnessStoppedError } from './errors.ts';
import { createFailpoints } from './failpoints.ts';
import { createLlm } from './model.ts';
import type { HarnessOptions } from './options.ts';
import { readinessOf } from './readiness.ts';
import { reportTo } from './report.ts';
import { publicUrl, type Settings, secretsOf } from './settings/index.ts';
import { taskOptions } from './task-options.ts';
import { connectTemporal } from './temporal.ts';
import { connectTools, readMcpConfig } from './tools.ts';

/** Tool results longer than this many characters are cut for the model and stored whole (TL-4). */
const TOOL_RESULT_LIMIT = 20_000;

/** What a started harness has. */
interface Running {
  readonly server: A2AServer;
  readonly client: Client;
  readonly tools: readonly string[];
  readonly stop: () => Promise<void>;
}

/** A port that serves a harness. */
export interface Listening {
  /** `http://<host>:<port>` as bound. */
  readonly origin: string;
  /** Stops taking requests and ends open streams; the harness goes on. */
  close(): Promise<void>;
}

/**
 * One agent: its settings, and the life of what runs it. The constructor does no I/O; `start` brings up the store,
 * Temporal, tools and worker, in this order, and undoes what it did when a step fails. A harness runs once.
 */
export class Harness implements AsyncDisposable {
  readonly agentId: string;
  readonly settings: Settings;
  readonly #options: HarnessOptions;
  readonly #logger: Logger;
  readonly #redactor = createRedactor(() => secretRegistry().snapshot());
  #publicUrl: string;
  #state: 'new' | 'starting' | 'started' | 'stopped' = 'new';
  #running: Running | undefined;
  #starting: Promise<void> | undefined;
  readonly #listening = new Set<Listening>();
  readonly #stopping = new AbortController();

  /** @throws ConfigError when the prefix disagrees with the path of `server.base_url`. */
  constructor(settings: Settings, options: HarnessOptions = {}) {
    this.settings = settings;
    this.agentId = settings.agent.id;
    this.#options = options;
    this.#publicUrl = publicUrl(settings.server.baseUrl, options.prefix);
    this.#logger =
      options.logger ??
      createLogger({ agent: this.agentId, redactor: this.#redactor, level: settings.o11y.logLevel });
  }

  /** Makes and starts a harness: `await using harness = await Harness.start(settings)`. */
  static async start(settings: Settings, options: HarnessOptions = {}): Promise<Harness> {
    const harness = new Harness(settings, options);
    await harness.start();
    return harness;
  }

  get started(): boolean {
    return this.#running !== undefined;
  }

  /** Where clients reach this agent; no trailing slash. */
  get publicUrl(): string {
    return this.#publicUrl;
  }

  /** The Temporal client. @throws HarnessNotStartedError before `start`. */
  get client(): Client {
    if (this.#running === undefined) throw new HarnessNotStartedError(this.agentId);
    return this.#running.client;
  }

  /**
   * Starts the agent. A failure part-way undoes exactly the steps that ran, in reverse (MT-1); so does the signal.
   *
   * @throws HarnessConflictError, HarnessAlreadyStartedError, HarnessStoppedError, ConfigError, or what a step throws.
   */
  start(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    if (this.#state === 'stopped') return Promise.reject(new HarnessStoppedError(this.agentId));
    if (this.#state !== 'new') return Promise.reject(new HarnessAlreadyStartedError(this.agentId));
    this.#state = 'starting';
    const signals = [this.#stopping.signal, ...(options.signal ? [options.signal] : [])];
    this.#starting = this.#start(AbortSignal.any(signals));
    return this.#starting;
  }

  async #start(signal: AbortSignal): Promise<void> {
    await using undo = new AsyncDisposableStack();
    try {
      const parts = await this.#startParts(undo, signal);
      const done = undo.move();
      this.#running = { ...parts, stop: () => done.disposeAsync() };
      this.#state = 'started';
    } catch (error) {
      this.#state = 'stopped';
      throw error;
    }
  }

  /**
   * Stops the agent: no new requests, the worker drains, everything closes in reverse order, ports opened by `listen`
   * last. A start under way is ended first. May be called again.
   */
  async stop(): Promise<void> {
    this.#stopping.abort(new HarnessStoppedError(this.agentId));
    await this.#starting?.catch(() => {});
    const running = this.#running;
    this.#state = 'stopped';
    this.#running = undefined;
    await running?.stop();
    await Promise.all([...this.#listening].map((each) => each.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Names of the tools the agent has besides its intrinsic ones, sorted; none before `start`, or without a worker. */
  get tools(): readonly string[] {
    return this.#running?.tools ?? [];
  }

  /**
   * Answers a request; before `start` with 503, on an unknown path with a JSON 404. Without the address it came from,
   * its rate has no limit.
   */
  readonly fetch = async (request: Request, origin: RequestOrigin = {}): Promise<Response> => {
    if (this.#running === undefined) {
      return Response.json({ error: `agent ${this.agentId} is not started` }, { status: 503 });
    }
    const base = new URL(this.#publicUrl).pathname.replace(/\/$/, '');
    const path = new URL(request.url).pathname.replace(/\/{2,}/g, '/');
    const below = path === base || path.startsWith(`${base}/`) ? path.slice(base.length) : undefined;
    const response =
      below === undefined ? undefined : await this.#running.server.fetch(request, below, origin);
    return response ?? Response.json({ error: `there is nothing at ${path}` }, { status: 404 });
  };

  /** The same for `node:http` and the frameworks on it. */
  readonly nodeHandler: (request: IncomingMessage, response: ServerResponse) => void = toNodeHandler(
    (request, origin) => this.fetch(request, origin),
    { onError: (error) => this.#logger.error('a request failed', { error }) },
  );

  /**
   * Opens a port and serves the harness there (the configured bind unless given). Does not start the harness: until
   * then requests are answered with 503.
   *
   * @throws ConfigError when the port is taken.
   */
  async listen(bind: { readonly host?: string; readonly port?: number } = {}): Promise<Listening> {
    const host = bind.host ?? this.settings.server.bindHost;
    const server = createServer(this.nodeHandler);
    const port = await bound(server, host, bind.port ?? this.settings.server.bindPort);
    const origin = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
    if (this.settings.server.baseUrlFromBind) this.#publicUrl = publicUrl(origin, this.#options.prefix);
    const listening: Listening = {
      origin,
      close: async () => {
        this.#listening.delete(listening);
        const closed = new Promise<void>((resolve) => server.close(() => resolve()));
        server.closeAllConnections();
        await closed;
      },
    };
    this.#listening.add(listening);
    return listening;
  }

  async #startParts(undo: AsyncDisposableStack, signal: AbortSignal): Promise<Omit<Running, 'stop'>> {
    const { settings } = this;
    const { agent, temporal } = settings;
    const logger = this.#logger;
    const commands = createCommands(this.#options);
    for (const warning of settings.warnings) logger.warn(warning);
    for (const note of settings.notes) logger.info(note);

    undo.defer(
      claim({
        agentId: agent.id,
        namespace: temporal.namespace,
        taskQueue: temporal.taskQueue,
        store: real(settings.store.sqlitePath),
      }),
    );
    undo.defer(secretRegistry().add(secretsOf(settings)));
    const withWorker = this.#options.withWorker ?? true;
    const llm = withWorker ? (this.#options.llm ?? createLlm(settings)) : undefined;
    const mcp = withWorker ? await readMcpConfig(settings) : undefined;
    // Before Temporal: a store that cannot be opened should not cost its start.
    const store = SqliteStore.open(settings.store.sqlitePath);
    undo.defer(() => store.close());
    installRuntime(logger);
    const { client, native } = await connectTemporal(settings, undo, {
      logger,
      onProgress: this.#options.onProgress ?? ((line) => logger.info(line)),
      signal,
    });

    const bus = new LocalBus({ watch: (changed) => store.watch(changed) });
    const journal = new Journal(store, bus, this.#redactor);
    const hooks = this.#options.hooks ?? new HookChain();
    hooks.scrubWith((value) => this.#redactor.redactPlain(value));
    const failpoint = createFailpoints(this.#options.env ?? process.env);
    if (llm) logger.info(llm.description);

    const delivery = new TaskClient(client, temporal.taskQueue, taskOptions(settings));
    const admission = new Admission({
      journal,
      delivery,
      hooks,
      commands,
      defaults: {
        agentId: agent.id,
        storeId: store.identity,
        conversation: agent.conversation,
        limits: settings.limits,
        searchAttributes: temporal.searchAttributes,
      },
      delegators: settings.server.delegators,
      idempotency: settings.server.idempotency,
      maxRunningTasks: settings.server.maxRunningTasksPerCaller,
      failpoint,
      logger,
    });
    const channels = new Channels(this.#options.media ?? [], logger);

    let names: readonly string[] = [];
    let worker: RunningWorker | undefined;
    if (llm) {
      const effort = settings.model?.openai?.reasoningEffort;
      const tools = await connectTools(mcp, this.#options.tools ?? [], undo, logger, signal);
      names = tools.definitions().map((tool) => tool.name);
      signal.throwIfAborted();
      worker = await startWorker({
        connection: native,
        namespace: temporal.namespace,
        taskQueue: temporal.taskQueue,
        maxCachedWorkflows: temporal.maxCachedWorkflows,
        activities: createActivities({
          agentId: agent.id,
          agent: { name: settings.card.name, description: settings.card.description },
          journal,
          hooks,
          llm,
          ...(effort === undefined ? {} : { effort }),
          tools,
          commands,
          approvals: settings.approvals,
          admission,
          channels,
          prices: new Map(Object.entries(settings.prices)),
          selectableModels: settings.model?.openai?.models ?? [llm.model],
          intrinsics: new Map(INTRINSICS.map((intrinsic) => [intrinsic.name, intrinsic])),
          systemPrompt: loadSystemPrompt(),
          toolResultLimit: TOOL_RESULT_LIMIT,
          clock: { now: Date.now },
          redactText: (text) => this.#redactor.redactText(text),
          failpoint,
          report: reportTo(logger),
        }),
      });
      const running = worker;
      undo.defer(() => running.shutdown());
      running.stopped.catch((error: unknown) => logger.error('the worker stopped', { error }));
    }

    const stop = new AbortController();
    const { defaultParticipant } = settings.server;
    const server = new A2AServer({
      card: buildCard({ ...settings.card, commands: commands.list(), publicUrl: this.#publicUrl }),
      admission,
      delivery,
      journal,
      projection: new Projection(store, agent.id),
      identity: { agentId: agent.id, ...(defaultParticipant === undefined ? {} : { defaultParticipant }) },
      maxRequestBytes: settings.server.maxRequestBytes,
      rateLimitPerMinute: settings.server.rateLimitPerMinute,
      readiness: readinessOf({ store, client, taskQueue: temporal.taskQueue, worker }),
      logger,
      signal: stop.signal,
    });
    const redelivered = admission.redeliver(stop.signal).then(
      (count) => count > 0 && logger.info('delivered messages that a crash left behind', { count }),
      (error: unknown) => logger.error('redelivery failed', { error }),
    );
    const polling = channels.poll(admission, settings.heartbeat.intervalMs, stop.signal);
    undo.defer(async () => {
      stop.abort();
      await Promise.all([redelivered, polling]);
    });
    signal.throwIfAborted();
    return { server, client, tools: names };
  }
}

/** The path with links resolved, so that two spellings of one file clash; as it is when there is no file yet. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

async function bound(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      reject(
        new ConfigError(
          `cannot listen on ${host}:${port}: ${messageOf(error)}; set server.bind to a free port`,
        ),
      );
    });
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}
