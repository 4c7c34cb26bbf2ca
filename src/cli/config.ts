import { stringify } from 'smol-toml';
import { createRedactor, secretRegistry } from '../core/security/index.ts';
import { inert } from '../interaction/terminal/index.ts';
import { asWritten } from './as-written.ts';
import { settingsOf } from './settings.ts';

export interface ConfigOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** `tiny-harness config`: the settings as they are used, as a configuration file that says so; secrets masked. */
export async function showConfig(options: ConfigOptions): Promise<undefined> {
  // Secrets are `[secret]` by themselves; the redactor masks what stands in a URL.
  const shown = createRedactor(() => secretRegistry().snapshot()).redact(
    asWritten(settingsOf(options.config)),
  );
  process.stdout.write(options.json ? `${JSON.stringify(shown, null, 2)}\n` : `${inert(stringify(shown))}\n`);
}
