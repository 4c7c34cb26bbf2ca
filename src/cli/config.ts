import { stringify } from 'smol-toml';
import type { JsonObject } from '../core/base/index.ts';
import { createRedactor, secretRegistry } from '../core/security/index.ts';
import { inert } from '../interaction/terminal/index.ts';
import { settingsOf } from './settings.ts';

export interface ConfigOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** `tiny-harness config`: the settings as they are used, durations in milliseconds, secrets masked. */
export async function showConfig(options: ConfigOptions): Promise<undefined> {
  const { secrets: _, ...settings } = settingsOf(options.config);
  // Secrets become `[secret]` here; the redactor masks what stands in a URL.
  const plain = JSON.parse(JSON.stringify(settings)) as JsonObject;
  const shown = createRedactor(() => secretRegistry().snapshot()).redact(plain);
  process.stdout.write(options.json ? `${JSON.stringify(shown, null, 2)}\n` : `${inert(stringify(shown))}\n`);
}
