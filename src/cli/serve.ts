import {
  type AgentOptions,
  createAgent,
  debugFlags,
  endCode,
  modelWords,
  toolWords,
  untilDraining,
} from './agent.ts';
import { hostHarness } from './host.ts';
import { settingsOf } from './settings.ts';

export interface ServeOptions extends AgentOptions {
  readonly bind?: string;
  readonly withWorker?: boolean;
}

/**
 * `tiny-harness serve`: serves one agent until a signal comes, then drains. With an embedded Temporal the worker runs
 * here too; with a remote one only when `--with-worker` says so.
 */
export async function serve(options: ServeOptions, signal: AbortSignal): Promise<number> {
  const settings = settingsOf(options.config, {
    ...(options.bind === undefined ? {} : { server: { bind: options.bind } }),
    ...debugFlags(options),
  });
  const withWorker = options.withWorker === true || settings.temporal.mode === 'embedded';
  const { harness, logger } = await createAgent(settings, { ...options, withWorker });
  {
    await using hosted = await hostHarness(harness, signal);
    const worker = withWorker ? `model ${modelWords(settings)}  ${toolWords(harness)}` : 'without a worker';
    process.stdout.write(`ready: agent ${harness.agentId} at ${hosted.origin}/  ${worker}\n`);
    await untilDraining(signal, logger);
  }
  logger.info('stopped');
  return endCode(signal);
}
