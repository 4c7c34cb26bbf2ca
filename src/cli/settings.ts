import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../core/base/index.ts';
import { secretRegistry } from '../core/security/index.ts';
import { loadSettings, type Settings, type SettingsInput } from '../service/harness/index.ts';

/**
 * The settings of `--config`, else of the user's own file; with neither, the defaults will do when the environment has
 * the key of a model.
 *
 * @throws ConfigError with every problem, or saying how to make a file when there is none.
 */
export function settingsOf(path: string | undefined, flags: SettingsInput = {}): Settings {
  const settings = loadSettings({ ...fileOf(path), env: process.env, flags });
  // For as long as this process lives: an error is reported after the harness has let go of its secrets.
  secretRegistry().add(settings.secrets.map((secret) => secret.reveal()));
  return settings;
}

function fileOf(given: string | undefined): { readonly path?: string } {
  if (given !== undefined) return { path: given };
  const folder = process.env.TINY_HARNESS_HOME || join(process.env.HOME || homedir(), '.tiny-harness');
  const path = join(folder, 'config.toml');
  if (existsSync(path)) return { path };
  if (process.env.OPENAI_API_KEY || process.env.OPENAI_API_KEY_FILE) return {};
  throw new ConfigError(
    `there is no configuration at ${path}; write one with a section such as ` +
      '[openai] base_url = "http://127.0.0.1:11434/v1" model = "<name>" (each key on its own line), ' +
      'set OPENAI_API_KEY, or name another file with --config. "tiny-harness demo" needs none',
  );
}
