import { findTemporalCli } from '../service/durable/embedded/index.ts';
import { parseSettings } from '../service/harness/index.ts';
import { withProgress } from './progress.ts';
import { settingsOf } from './settings.ts';

export interface InstallOptions {
  readonly config?: string;
}

/** `tiny-harness temporal install`: finds the Temporal CLI, or fetches it. Where it is here already, nothing is done. */
export async function installTemporal(options: InstallOptions, signal: AbortSignal): Promise<undefined> {
  // Without a configuration of their own, the places of every user; keys and addresses do not matter here.
  const { HOME, XDG_CACHE_HOME } = process.env;
  const settings =
    options.config === undefined ? parseSettings({}, { HOME, XDG_CACHE_HOME }) : settingsOf(options.config);
  const cli = await withProgress('looking for the Temporal CLI', process.stderr, () =>
    findTemporalCli(settings.temporal.embedded, {
      signal,
      onProgress: (line) => process.stderr.write(`${line}\n`),
    }),
  );
  process.stdout.write(`Temporal CLI ${cli.version}: ${cli.path} (${cli.source})\n`);
}
