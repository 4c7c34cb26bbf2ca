import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Everything a demo writes: store, Temporal's database, log, and the ledger of its shop. */
export interface DemoFolder {
  readonly path: string;
  /** The `mcp.json` with the two servers of the shop. */
  readonly mcpConfig: string;
  /** The lines of the ledger so far. */
  ledger(): string[];
  remove(): void;
}

/** Makes a fresh folder under the system's temporary one. */
export function createDemoFolder(): DemoFolder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'tiny-harness-demo-')));
  const ledger = join(path, 'ledger.jsonl');
  const mcpConfig = join(path, 'mcp.json');
  const server = (name: string, env: Record<string, string> = {}) => ({
    command: process.execPath,
    args: [serverFile(name)],
    env,
  });
  const servers = { orders: server('orders'), refunds: server('refunds', { LEDGER_FILE: ledger }) };
  writeFileSync(mcpConfig, `${JSON.stringify({ mcpServers: servers }, null, 2)}\n`);
  return {
    path,
    mcpConfig,
    ledger: () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trimEnd().split('\n') : []),
    remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** Beside this file, with its suffix: `.ts` from source, `.js` when built. */
function serverFile(name: string): string {
  return fileURLToPath(new URL(`./servers/${name}${extname(import.meta.url)}`, import.meta.url));
}
