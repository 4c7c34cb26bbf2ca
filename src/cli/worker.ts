import { ConfigError } from '../core/base/index.ts';
import {
  type AgentOptions,
  createAgent,
  debugFlags,
  endCode,
  modelWords,
  toolWords,
  untilDraining,
} from './agent.ts';
import { withProgress } from './progress.ts';
import { settingsOf } from './settings.ts';

/** `tiny-harness worker`: works on one agent's tasks until a signal comes, then drains. Needs a remote Temporal (CL-4). */
export async function worker(options: AgentOptions, signal: AbortSignal): Promise<number> {
  const settings = settingsOf(options.config, debugFlags(options));
  if (settings.temporal.mode === 'embedded') {
    throw new ConfigError(
      'an embedded Temporal runs its worker inside "tiny-harness serve"; for one of its own, set temporal.address',
    );
  }
  const { harness, logger } = await createAgent(settings, { ...options, withWorker: true });
  {
    await using stopping = harness;
    await withProgress('starting', process.stderr, () => stopping.start({ signal }));
    process.stdout.write(
      `ready: worker of agent ${harness.agentId}  model ${modelWords(settings)}  ${toolWords(harness)}\n`,
    );
    await untilDraining(signal, logger);
  }
  logger.info('stopped');
  return endCode(signal);
}
