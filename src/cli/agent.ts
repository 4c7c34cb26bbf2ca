import { ConfigError, type Logger } from '../core/base/index.ts';
import { createRedactor, secretRegistry } from '../core/security/index.ts';
import { Harness, type Settings } from '../service/harness/index.ts';
import { createLogger } from '../service/o11y/index.ts';
import { EXIT, exitCodeOfSignal } from './exit-codes.ts';
import { Interrupted } from './interrupted.ts';
import { untilAborted } from './signals.ts';
import { loadToolsModules } from './tools-module.ts';

/** What `serve` and `worker` have in common. */
export interface AgentOptions {
  readonly config?: string;
  readonly tools?: readonly string[];
  readonly debug?: boolean;
}

/** What flags say over the file. */
export function debugFlags(options: AgentOptions): { o11y?: { log_level: string } } {
  return options.debug ? { o11y: { log_level: 'debug' } } : {};
}

/** The harness of a configuration, with the log of this process. @throws ConfigError when its worker has no model. */
export async function createAgent(
  settings: Settings,
  options: AgentOptions & { readonly withWorker: boolean },
): Promise<{ readonly harness: Harness; readonly logger: Logger }> {
  if (options.withWorker && settings.model === undefined) {
    throw new ConfigError(settings.noModel ?? 'no model is configured');
  }
  const { tools, hooks } = await loadToolsModules(options.tools ?? []);
  const logger = createLogger({
    agent: settings.agent.id,
    redactor: createRedactor(() => secretRegistry().snapshot()),
    level: settings.o11y.logLevel,
  });
  const onProgress = (line: string) => process.stderr.write(`${line}\n`);
  const harness = new Harness(settings, { tools, hooks, logger, onProgress, withWorker: options.withWorker });
  return { harness, logger };
}

/** Waits for the signal that ends the agent. */
export async function untilDraining(signal: AbortSignal, logger: Logger): Promise<void> {
  await untilAborted(signal);
  const { reason } = signal;
  logger.info('draining', { reason: reason instanceof Interrupted ? reason.signal : String(reason) });
}

/** SIGTERM is how a service is stopped: 0. */
export function endCode({ reason }: AbortSignal): number {
  return reason instanceof Interrupted && reason.signal !== 'SIGTERM'
    ? exitCodeOfSignal(reason.signal)
    : EXIT.ok;
}

/** Which model a worker uses, in a few words. */
export function modelWords({ model }: Settings): string {
  const endpoint = model?.openai;
  if (endpoint === undefined) return '(none)';
  // Its origin alone: a URL may hold what is nobody's business.
  return endpoint.baseUrl === undefined
    ? `${endpoint.model} at OpenAI`
    : `${endpoint.model} at ${new URL(endpoint.baseUrl).origin}`;
}

/** `2 tools`. */
export function toolWords({ tools }: Harness): string {
  return `${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`;
}
