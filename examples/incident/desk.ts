import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Harness, parseSettings } from 'tiny-harness';
import { ScriptedLlm } from 'tiny-harness/testing';
import { support } from './model.ts';

/** A support desk that is open: the agent, its ledger, and a folder with everything it writes. */
export interface Desk extends AsyncDisposable {
  readonly url: string;
  ledger(): unknown[];
}

export async function openDesk(): Promise<Desk> {
  const folder = mkdtempSync(join(tmpdir(), 'incident-'));
  const ledger = join(folder, 'ledger.jsonl');
  await using undo = new AsyncDisposableStack();
  undo.defer(() => rmSync(folder, { recursive: true, force: true }));
  const harness = new Harness(settingsIn(folder, ledger), { llm: new ScriptedLlm(support) });
  undo.use(harness);
  const { origin } = await harness.listen();
  await harness.start();
  const open = undo.move();
  return {
    url: `${origin}/`,
    ledger: () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n').map(parse) : []),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

const parse = (line: string): unknown => JSON.parse(line);

/** The same could stand in a TOML file. */
function settingsIn(folder: string, ledger: string) {
  const { PATH, HOME, XDG_CACHE_HOME } = process.env;
  return parseSettings(
    {
      agent: { id: 'support', name: 'Support', conversation: 'single' },
      temporal: { embedded: { database_path: join(folder, 'temporal.db') } },
      store: { sqlite_path: join(folder, 'store.db') },
      server: { bind: '127.0.0.1:0' },
      mcp_config: mcpConfigIn(folder, ledger),
      approvals: {
        deadline: '1d',
        rules: [
          {
            tool: 'local/credits.give_credit',
            arguments: { properties: { amount: { exclusiveMinimum: 5 } }, required: ['amount'] },
            decision: 'ask',
            reason: 'More than 5 EUR.',
          },
        ],
      },
      o11y: { log_level: 'warn' },
    },
    { PATH, HOME, XDG_CACHE_HOME },
  );
}

function mcpConfigIn(folder: string, ledger: string): string {
  const path = join(folder, 'mcp.json');
  const server = fileURLToPath(new URL('./credits.ts', import.meta.url));
  const credits = { command: process.execPath, args: [server], env: { LEDGER_FILE: ledger } };
  writeFileSync(path, JSON.stringify({ mcpServers: { credits } }));
  return path;
}
