import { Secret } from '../../../core/security/index.ts';
import type { McpValue } from './server-spec.ts';

/** What a program needs to run in a shell. A list of what may pass, so that no key of ours ever does (PL-4). */
const UNIX = 'PATH HOME LANG LC_ALL LC_CTYPE LOGNAME SHELL TERM TMPDIR TZ USER';
/** Windows programs do not start without these. */
const WINDOWS =
  'APPDATA COMSPEC LOCALAPPDATA PATHEXT PROGRAMDATA PROGRAMFILES SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE WINDIR';
const SHELL_VARIABLES = `${UNIX} ${WINDOWS}`.split(' ');

/** The whole environment of a server's process: a minimal shell, `PLUGIN_ROOT`, `PLUGIN_DATA` and the manifest's own. */
export function serverEnvironment(options: {
  readonly from: Readonly<Record<string, string | undefined>>;
  readonly root?: string | undefined;
  readonly dataDir?: string | undefined;
  readonly manifest: Readonly<Record<string, McpValue>>;
}): Record<string, string> {
  const { from, root, dataDir, manifest } = options;
  const environment: Record<string, string> = {};
  for (const name of SHELL_VARIABLES) {
    const value = from[name];
    // An exported shell function is code that a shell would run.
    if (value !== undefined && !value.startsWith('()')) environment[name] = value;
  }
  for (const [name, value] of Object.entries(manifest)) environment[name] = reveal(value);
  if (root !== undefined) environment.PLUGIN_ROOT = root;
  if (dataDir !== undefined) environment.PLUGIN_DATA = dataDir;
  return environment;
}

/** The value itself, for where it leaves. */
export function reveal(value: McpValue): string {
  return value instanceof Secret ? value.reveal() : value;
}
