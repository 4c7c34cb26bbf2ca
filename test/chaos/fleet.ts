import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type EmbeddedTemporal,
  findTemporalCli,
  prepareServer,
  startEmbeddedTemporal,
} from '../../src/service/durable/embedded/index.ts';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const LEDGER = fileURLToPath(new URL('./ledger-server.ts', import.meta.url));

export const VICTIMS = ['server', 'worker', 'temporal', 'all'] as const;
export type Victim = (typeof VICTIMS)[number];

/** Server, worker and Temporal of one agent, each a process of its own that is started again when it is gone. */
export class Fleet {
  readonly folder: string;
  readonly url: string;
  readonly ledgerFile: string;
  readonly store: string;
  readonly #ports: { readonly server: number; readonly temporal: number };
  readonly #log: number;
  #temporal: EmbeddedTemporal | undefined;
  readonly #processes = new Map<'server' | 'worker', ChildProcess>();
  #stopping = false;

  private constructor(folder: string, ports: { server: number; temporal: number }) {
    this.folder = folder;
    this.#ports = ports;
    this.url = `http://127.0.0.1:${ports.server}/`;
    this.ledgerFile = join(folder, 'ledger.jsonl');
    this.store = join(folder, 'store.db');
    this.#log = openSync(join(folder, 'processes.log'), 'a');
  }

  static async start(folder: string, modelUrl: string): Promise<Fleet> {
    const fleet = new Fleet(folder, { server: await freePort(), temporal: await freePort() });
    // A program that fails half-way leaves no process behind.
    process.once('exit', () => {
      for (const child of fleet.#processes.values()) child.kill('SIGKILL');
    });
    writeFileSync(fleet.ledgerFile, '');
    writeFileSync(
      join(folder, 'mcp.json'),
      JSON.stringify({
        mcpServers: {
          ledger: { command: process.execPath, args: [LEDGER], env: { LEDGER_FILE: fleet.ledgerFile } },
        },
      }),
    );
    writeFileSync(
      join(folder, 'agent.toml'),
      `
mcp_config = "${join(folder, 'mcp.json')}"
[agent]
id = "chaos"
[temporal]
address = "127.0.0.1:${fleet.#ports.temporal}"
namespace = "default"
heartbeat_timeout = "2s"
[openai]
base_url = "${modelUrl}"
model = "chaos"
[server]
bind = "127.0.0.1:${fleet.#ports.server}"
rate_limit_per_minute = 1000000
[store]
sqlite_path = "${fleet.store}"
[[approvals.rules]]
tool = "local/ledger.record"
arguments = { properties = { order = { pattern = "^pay-" } } }
decision = "ask"
[retries.default]
initial_interval = "100ms"
maximum_interval = "1s"
maximum_attempts = 20
`,
    );
    await fleet.#startTemporal();
    fleet.#startProcess('worker');
    fleet.#startProcess('server');
    await fleet.ready();
    return fleet;
  }

  /** Kills, as a power cut does, and has the victims started again. */
  async kill(victim: Victim): Promise<void> {
    if (victim === 'server' || victim === 'all') this.#processes.get('server')?.kill('SIGKILL');
    if (victim === 'worker' || victim === 'all') this.#processes.get('worker')?.kill('SIGKILL');
    if ((victim === 'temporal' || victim === 'all') && this.#temporal) {
      const gone = new Promise<void>((resolve) => this.#temporal?.onExit(() => resolve()));
      process.kill(this.#temporal.pid, 'SIGKILL');
      await gone;
      await this.#temporal.stop();
      await this.#startTemporal();
    }
  }

  /** Resolves once the server answers. */
  async ready(): Promise<void> {
    const deadline = Date.now() + 60_000;
    for (;;) {
      const card = await fetch(`${this.url}.well-known/agent-card.json`).catch(() => undefined);
      if (card?.ok) return;
      if (Date.now() > deadline)
        throw new Error(`the server does not come back; see ${this.folder}/processes.log`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Stops everything in order. Returns how each process ended. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(
      [...this.#processes.values()].map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGTERM');
        await ended;
      }),
    );
    await this.#temporal?.stop();
    closeSync(this.#log);
  }

  async #startTemporal(): Promise<void> {
    const cli = await findTemporalCli({}, { onProgress: (line) => console.error(line) });
    this.#temporal = await startEmbeddedTemporal({
      cli,
      databasePath: join(this.folder, 'temporal.sqlite3'),
      port: this.#ports.temporal,
      readyTimeoutMs: 30_000,
    });
    await prepareServer(this.#temporal.address, { retentionMs: 86_400_000 });
  }

  #startProcess(name: 'server' | 'worker'): void {
    const command = name === 'server' ? 'serve' : 'worker';
    const child = spawn(process.execPath, [MAIN, command, '--config', join(this.folder, 'agent.toml')], {
      stdio: ['ignore', this.#log, this.#log],
    });
    this.#processes.set(name, child);
    child.once('exit', () => {
      if (!this.#stopping) setTimeout(() => !this.#stopping && this.#startProcess(name), 100);
    });
  }
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
