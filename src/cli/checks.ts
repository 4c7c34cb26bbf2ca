import { createServer } from 'node:net';
import { Connection } from '@temporalio/client';
import { StoreInspector } from '../adapters/store/sqlite/index.ts';
import { connectMcpServer, loadMcpConfig } from '../adapters/tools/mcp/index.ts';
import { messageOf, silentLogger } from '../core/base/index.ts';
import { findTemporalCli } from '../service/durable/embedded/index.ts';
import type { Settings } from '../service/harness/index.ts';

/** What a check found. `fail`: the agent does not work so. `says` includes what to do. */
export interface Finding {
  readonly level: 'ok' | 'warn' | 'fail';
  readonly says: string;
}

export interface Check {
  readonly name: string;
  /** A rejection is a failure with its message. */
  look(): Promise<Finding>;
}

const TIMEOUT_MS = 3_000;

/** Whether the model's endpoint answers, and knows the key. */
export function modelCheck({ model, noModel }: Settings): Check {
  return {
    name: 'model',
    async look() {
      const endpoint = model?.openai;
      if (endpoint === undefined) return { level: 'fail', says: noModel ?? 'no model is configured' };
      const base = endpoint.baseUrl ?? 'https://api.openai.com/v1';
      const { origin } = new URL(base);
      let status: number;
      try {
        const response = await fetch(`${base.replace(/\/+$/, '')}/models`, {
          headers: endpoint.apiKey ? { authorization: `Bearer ${endpoint.apiKey.reveal()}` } : {},
          signal: AbortSignal.timeout(TIMEOUT_MS),
        });
        await response.body?.cancel();
        status = response.status;
      } catch (error) {
        const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
        return {
          level: 'fail',
          says: `${origin} does not answer (${messageOf(cause)}); start it, or set openai.base_url`,
        };
      }
      if (status === 401 || status === 403)
        return { level: 'fail', says: `${origin} refuses the key (HTTP ${status}); set OPENAI_API_KEY` };
      return status < 400
        ? { level: 'ok', says: `${endpoint.model} at ${origin}` }
        : {
            level: 'warn',
            says: `${origin} answers, but with HTTP ${status} to /models; check openai.base_url`,
          };
    },
  };
}

/** Embedded: whether the CLI is here. Remote: whether the server answers. */
export function temporalCheck({ temporal }: Settings, signal: AbortSignal): Check {
  return {
    name: 'temporal',
    async look() {
      if (temporal.mode === 'embedded') {
        const cli = await findTemporalCli(temporal.embedded, { signal, onProgress: () => {} });
        return { level: 'ok', says: `embedded, CLI ${cli.version} at ${cli.path}` };
      }
      const address = temporal.address ?? '';
      // With TLS or a key the connection is the harness's own affair; that the port answers is what is looked at.
      const connection = Connection.lazy({ address, tls: temporal.tls !== undefined });
      try {
        await connection.withDeadline(Date.now() + TIMEOUT_MS, () =>
          connection.workflowService.getSystemInfo({}),
        );
        return { level: 'ok', says: `server at ${address}` };
      } catch (error) {
        return temporal.tls !== undefined || temporal.apiKey !== undefined
          ? {
              level: 'warn',
              says: `${address} was not asked with its certificate or key: ${messageOf(error)}`,
            }
          : {
              level: 'fail',
              says: `${address} does not answer (${messageOf(error)}); start it, or check temporal.address`,
            };
      } finally {
        await connection.close();
      }
    },
  };
}

/** Whether the store can be read, when there is one. */
export function storeCheck({ store }: Settings): Check {
  return {
    name: 'store',
    async look() {
      if (!StoreInspector.exists(store.sqlitePath))
        return { level: 'ok', says: `${store.sqlitePath} is made when the agent first starts` };
      using inspector = StoreInspector.open(store.sqlitePath);
      return { level: 'ok', says: `${store.sqlitePath}, ${inspector.count()} tasks` };
    },
  };
}

/** Each MCP server, connected to and left again. */
export async function mcpChecks({ mcpConfig }: Settings, signal: AbortSignal): Promise<Check[]> {
  if (mcpConfig === undefined) return [];
  const config = await loadMcpConfig(mcpConfig, { env: process.env });
  return Object.entries(config.servers).map(([server, spec]) => ({
    name: `mcp ${server}`,
    async look() {
      const options = { plugin: 'local', server, spec, root: config.root, env: process.env, signal };
      const connection = await connectMcpServer({ ...options, logger: silentLogger });
      await connection.close();
      return { level: 'ok', says: `${connection.tools.length} tools` };
    },
  }));
}

/** Whether `server.bind` is free. An agent that runs already is no failure. */
export function portCheck({ server }: Settings): Check {
  const { bindHost: host, bindPort: port } = server;
  return {
    name: 'port',
    async look() {
      const problem = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
        const probe = createServer();
        probe.once('error', resolve);
        probe.listen(port, host, () => probe.close(() => resolve(undefined)));
      });
      if (problem === undefined) return { level: 'ok', says: `${host}:${port} is free` };
      if (problem.code !== 'EADDRINUSE')
        return {
          level: 'fail',
          says: `cannot listen on ${host}:${port}: ${problem.message}; set server.bind`,
        };
      const who = await agentAt(`http://${host.includes(':') ? `[${host}]` : host}:${port}`);
      return who === undefined
        ? {
            level: 'fail',
            says: `${host}:${port} is taken by another program; set server.bind to a free port`,
          }
        : { level: 'warn', says: `${host}:${port} is taken by ${who}, which runs already` };
    },
  };
}

async function agentAt(origin: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${origin}/.well-known/agent-card.json`, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { name } = (await response.json()) as { name?: unknown };
    return typeof name === 'string' ? `the A2A agent "${name}"` : undefined;
  } catch {
    return undefined;
  }
}
