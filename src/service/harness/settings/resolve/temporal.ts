import { accessSync, constants, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isLoopbackHost, parseBind } from '../hosts.ts';
import type { Problems } from '../problems.ts';
import { defined } from '../tables.ts';
import type { EmbeddedSettings, TemporalSettings, TlsSettings } from '../types.ts';
import { absolute, home, type Scope } from './scope.ts';

/** `[temporal]`, with the rules of CF-3. */
export function resolveTemporal(scope: Scope, sqlitePath: string): TemporalSettings {
  const { temporal, agent } = scope.file;
  const mode = temporal.mode ?? (temporal.address === undefined ? 'embedded' : 'remote');
  const shared = {
    taskQueue: temporal.task_queue ?? agent.id,
    searchAttributes: temporal.search_attributes,
    heartbeatTimeoutMs: temporal.heartbeat_timeout,
    maxCachedWorkflows: temporal.max_cached_workflows,
    embedded: resolveEmbedded(scope, sqlitePath),
  };
  if (mode === 'remote') return { mode, ...shared, ...resolveRemote(scope) };
  refuseRemoteKeys(scope);
  return { mode, ...shared, namespace: temporal.namespace ?? 'default' };
}

function resolveRemote(scope: Scope): Pick<TemporalSettings, 'address' | 'namespace' | 'tls' | 'apiKey'> {
  const { address, namespace } = scope.file.temporal;
  const apiKey = scope.secrets['temporal.api_key'];
  const problems = scope.problems('temporal');
  const parsed = parseBind(address ?? '');
  if (address === undefined) problems.add('temporal.address', 'is required in remote mode');
  else if (parsed === undefined) problems.add('temporal.address', 'must be host:port');
  if (namespace === undefined) problems.add('temporal.namespace', 'is required in remote mode');
  if (scope.written('temporal.embedded'))
    problems.add('temporal.embedded', 'has no meaning in remote mode; remove the table or temporal.address');

  const local = parsed !== undefined && isLoopbackHost(parsed.host);
  // A development server on this machine speaks no TLS; where a key is given, TLS stays on unless switched off.
  const tls = resolveTls(scope, !local || apiKey !== undefined, problems);
  if (parsed !== undefined && !local && apiKey === undefined && tls?.certFile === undefined)
    problems.addMissingSecret(
      'temporal.api_key',
      `needed for ${address}; set TEMPORAL_API_KEY (or TEMPORAL_API_KEY_FILE), or give a client certificate as temporal.tls.cert_file and key_file`,
    );
  if (!local && apiKey !== undefined && tls === undefined)
    scope.warnings.push('temporal.tls is off: the Temporal API key and every payload travel in plain text');
  return { namespace: namespace ?? '', ...defined({ address, tls, apiKey }) };
}

function resolveTls(scope: Scope, byDefault: boolean, problems: Problems): TlsSettings | undefined {
  const { enabled, ...files } = scope.file.temporal.tls ?? {};
  const anyFile = Object.values(files).some((value) => value !== undefined);
  if ((files.cert_file === undefined) !== (files.key_file === undefined))
    problems.add('temporal.tls', 'cert_file and key_file go together');
  if (enabled === false && anyFile) problems.add('temporal.tls', 'enabled = false, yet other keys are given');
  if (!(enabled ?? (byDefault || anyFile))) return undefined;
  for (const key of ['ca_file', 'cert_file', 'key_file'] as const) {
    const path = absolute(scope, files[key]);
    if (path !== undefined && !isReadableFile(path))
      problems.add(`temporal.tls.${key}`, `no readable file at ${path}`);
  }
  return defined({
    serverName: files.server_name,
    caFile: absolute(scope, files.ca_file),
    certFile: absolute(scope, files.cert_file),
    keyFile: absolute(scope, files.key_file),
  });
}

function resolveEmbedded(scope: Scope, sqlitePath: string): EmbeddedSettings {
  const written = scope.file.temporal.embedded;
  const binaryPath = absolute(scope, written?.binary_path);
  if (binaryPath !== undefined && !isReadableFile(binaryPath, constants.X_OK))
    scope.problems('temporal').add('temporal.embedded.binary_path', `no executable file at ${binaryPath}`);
  const cache = scope.env.XDG_CACHE_HOME || join(home(scope.env), '.cache');
  return {
    persist: written?.persist ?? true,
    databasePath: absolute(scope, written?.database_path ?? join(dirname(sqlitePath), 'temporal.sqlite3')),
    downloadDir: absolute(scope, written?.download_dir ?? join(cache, 'tiny-harness', 'temporal')),
    synchronous: written?.synchronous ?? 'full',
    ...defined({
      binaryPath,
      downloadUrl: written?.download_url,
      downloadSha256: written?.download_sha256,
      port: written?.port,
    }),
  };
}

function refuseRemoteKeys(scope: Scope): void {
  const problems = scope.problems('temporal');
  for (const key of ['temporal.address', 'temporal.tls']) {
    if (scope.written(key))
      problems.add(
        key,
        'has no meaning in embedded mode; remove it, or set temporal.mode = "remote" and an address',
      );
  }
  if (scope.secrets['temporal.api_key'] !== undefined)
    problems.add(
      'temporal.api_key',
      'has no meaning in embedded mode; unset TEMPORAL_API_KEY, or set temporal.mode = "remote" and an address',
    );
}

function isReadableFile(path: string, mode: number = constants.R_OK): boolean {
  try {
    accessSync(path, mode);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
