import { ConfigError, type Logger } from '../core/base/index.ts';
import { createRedactor, secretRegistry } from '../core/security/index.ts';
import { Harness, type Settings } from '../service/harness/index.ts';
import { createLogger } from '../service/o11y/index.ts';
import { EXIT, exitCodeOfSignal } from './exit-codes.ts';
import { hostHarness } from './host.ts';
import { Interrupted } from './interrupted.ts';
import { settingsOf } from './settings.ts';
import { untilAborted } from './signals.ts';
import { loadToolsModules } from './tools-module.ts';

export interface ServeOptions {
  readonly config?: string;
  readonly bind?: string;
  readonly tools?: readonly string[];
  readonly debug?: boolean;
}

/** `tiny-harness serve`: runs one agent until a signal comes, then drains. SIGTERM is how a service is stopped: 0. */
export async function serve(options: ServeOptions, signal: AbortSignal): Promise<number> {
  const settings = settingsOf(options.config, {
    ...(options.bind === undefined ? {} : { server: { bind: options.bind } }),
    ...(options.debug ? { o11y: { log_level: 'debug' } } : {}),
  });
  if (settings.model === undefined) throw new ConfigError(settings.noModel ?? 'no model is configured');
  const { tools, hooks } = await loadToolsModules(options.tools ?? []);
  const logger = loggerOf(settings);
  const harness = new Harness(settings, {
    tools,
    hooks,
    logger,
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });
  {
    await using hosted = await hostHarness(harness, signal);
    const total = harness.tools.length;
    process.stdout.write(
      `ready: agent ${harness.agentId} at ${hosted.origin}/  model ${modelOf(settings)}  ${total} ${total === 1 ? 'tool' : 'tools'}\n`,
    );
    await untilAborted(signal);
    logger.info('draining', { reason: reasonOf(signal) });
  }
  logger.info('stopped');
  const { reason } = signal;
  return reason instanceof Interrupted && reason.signal !== 'SIGTERM'
    ? exitCodeOfSignal(reason.signal)
    : EXIT.ok;
}

function loggerOf(settings: Settings): Logger {
  return createLogger({
    agent: settings.agent.id,
    redactor: createRedactor(() => secretRegistry().snapshot()),
    level: settings.o11y.logLevel,
  });
}

function modelOf({ model }: Settings): string {
  const endpoint = model?.openai;
  if (endpoint === undefined) return '(none)';
  // Its origin alone: a URL may hold what is nobody's business.
  return endpoint.baseUrl === undefined
    ? `${endpoint.model} at OpenAI`
    : `${endpoint.model} at ${new URL(endpoint.baseUrl).origin}`;
}

function reasonOf({ reason }: AbortSignal): string {
  return reason instanceof Interrupted ? reason.signal : String(reason);
}
