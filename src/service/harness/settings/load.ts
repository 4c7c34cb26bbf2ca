import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { ConfigError, messageOf } from '../../../core/base/index.ts';
import { resolveSettings } from './resolve/index.ts';
import type { SettingsInput } from './schema/index.ts';
import type { Environment } from './secrets.ts';
import { isTable, mergeTables, type Table } from './tables.ts';
import type { Settings } from './types.ts';

export interface LoadOptions {
  /** The TOML file. Absent: no file is read. */
  readonly path?: string;
  readonly env: Environment;
  /** What relative paths are relative to, `path` included; default the working directory. */
  readonly cwd?: string;
  /** From the command line, in the shape of the file. */
  readonly flags?: SettingsInput;
  /** From code, in the shape of the file; stronger than everything else. */
  readonly overrides?: SettingsInput;
}

/**
 * Settings by CF-1: defaults, then the file, the environment (secrets), flags, code.
 *
 * @throws ConfigError with all problems, one line each, every line starting with its dotted key; or with the path, when
 * the file cannot be read or is not TOML
 */
export function loadSettings(options: LoadOptions): Settings {
  const { path, env, cwd = process.cwd(), flags, overrides } = options;
  const file = path === undefined ? undefined : readToml(resolve(cwd, path));
  return resolveSettings(mergeTables(file, flags, overrides), env, cwd);
}

/**
 * Settings given in code: the file's shape and its snake_case keys, checked and completed the same way. Secrets come
 * from `env` here too.
 *
 * @throws ConfigError
 */
export function parseSettings(
  input: SettingsInput,
  env: Environment = process.env,
  cwd: string = process.cwd(),
): Settings {
  if (!isTable(input))
    throw new ConfigError('settings: must be an object with the sections of the configuration');
  return resolveSettings(mergeTables(input), env, cwd);
}

function readToml(path: string): Table {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const what = missing ? 'there is no such configuration file' : `cannot be read: ${messageOf(error)}`;
    throw new ConfigError(`${path}: ${what}`, { cause: error });
  }
  try {
    return parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // Only the first line of its message: the rest quotes the file, which may hold a secret.
    const what = error.message.split('\n', 1)[0]?.replace(/^Invalid TOML document: /, '');
    throw new ConfigError(`${path}:${error.line}:${error.column}: not TOML: ${what}`);
  }
}
