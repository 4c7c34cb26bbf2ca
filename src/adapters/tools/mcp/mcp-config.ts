import { readFile, realpath } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ConfigError, isJsonObject, messageOf } from '../../../core/base/index.ts';
import { type McpServerSpec, type McpServersScope, readServerSpec } from './server-spec.ts';

/** The servers of an `mcp.json` file. */
export interface McpConfig {
  /** The folder of the file, symlinks followed: `${PLUGIN_ROOT}` and the default working directory. */
  readonly root: string;
  readonly servers: Readonly<Record<string, McpServerSpec>>;
}

/** One thing wrong with an `mcpServers` document. */
export interface McpProblem {
  /** The server it is about; undefined when it is about the document. */
  readonly server?: string;
  /** Names the key and says what is wrong. */
  readonly message: string;
}

/** The name of a server is a part of the names of its tools (`<plugin>/<server>.<tool>`): a dot would blur the parts. */
const SERVER_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/**
 * Reads a parsed `{"mcpServers": {...}}` document. A server with a problem is left out and reported, the others are
 * returned; servers with `disabled: true` are skipped. For plugins, which load without their bad parts (PL-3).
 */
export function parseMcpServers(
  document: unknown,
  scope: McpServersScope,
): { servers: Record<string, McpServerSpec>; problems: McpProblem[] } {
  const problems: McpProblem[] = [];
  const servers: Record<string, McpServerSpec> = {};
  const listed = isJsonObject(document) ? document.mcpServers : undefined;
  if (!isJsonObject(listed)) {
    problems.push({ message: 'mcpServers: must be an object with one key a server' });
    return { servers, problems };
  }
  for (const [server, entry] of Object.entries(listed)) {
    if (isJsonObject(entry) && entry.disabled === true) continue;
    if (!SERVER_NAME.test(server)) {
      const message = `mcpServers.${server}: the name must be letters, digits, "_" and "-", 64 at most`;
      problems.push({ server, message });
      continue;
    }
    const spec = readServerSpec(entry, scope, (key, text) => {
      const at = ['mcpServers', server, key].filter((part) => part !== '').join('.');
      problems.push({ server, message: `${at}: ${text}` });
    });
    if (spec !== undefined) servers[server] = spec;
  }
  return { servers, problems };
}

/**
 * Loads the usual MCP configuration file, whose servers become those of the plugin `local` (TL-11).
 *
 * @param options.env - what values of the form `env:NAME` are read from.
 * @param options.dataDir - `${PLUGIN_DATA}`, an existing folder.
 * @throws ConfigError that lists every problem of the file, each with its key.
 */
export async function loadMcpConfig(
  path: string,
  options: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly dataDir?: string | undefined;
  },
): Promise<McpConfig> {
  let document: unknown;
  let root: string;
  try {
    document = JSON.parse(await readFile(path, 'utf8'));
    root = await realpath(dirname(resolve(path)));
  } catch (error) {
    throw new ConfigError(`${path}: ${messageOf(error)}`, { cause: error });
  }
  const { servers, problems } = parseMcpServers(document, { root, ...options });
  if (problems.length > 0) throw new ConfigError(problems.map(({ message }) => `${path}: ${message}`));
  return { root, servers };
}
