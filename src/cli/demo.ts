import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createRedactor, secretRegistry } from '../core/security/index.ts';
import {
  createDemoFolder,
  DEMO_ANSWER,
  DEMO_CUSTOMER,
  DEMO_MESSAGE,
  DEMO_OTHER_MESSAGE,
  type DemoFolder,
  playShop,
} from '../demo/index.ts';
import { connectAgent, type Ending } from '../interaction/client/index.ts';
import { inertLine, planLine, stateWords } from '../interaction/terminal/index.ts';
import { Harness, parseSettings, type Settings } from '../service/harness/index.ts';
import { createLogger } from '../service/o11y/index.ts';
import { ScriptedLlm } from '../testing/index.ts';
import { converse } from './converse.ts';
import { EXIT } from './exit-codes.ts';
import { hostHarness } from './host.ts';
import { untilAborted } from './signals.ts';
import { dimOut } from './terminal.ts';
import { sendCommand } from './words.ts';

export interface DemoOptions {
  readonly interactive?: boolean;
  readonly once?: boolean;
  readonly keep?: boolean;
  readonly bind: string;
  readonly debug?: boolean;
}

/** `tiny-harness demo`: a whole task, from the first message to the ledger, with a scripted model. */
export async function demo(options: DemoOptions, signal: AbortSignal): Promise<number> {
  const folder = createDemoFolder();
  await using undo = new AsyncDisposableStack();
  undo.defer(() => {
    if (options.keep) say(dimOut(`kept: ${folder.path}`));
    else folder.remove();
  });
  say('A shop agent: the model is scripted, Temporal and two MCP servers are real. No key is needed.');
  const settings = settingsOf(folder, options.bind);
  const harness = new Harness(settings, {
    llm: new ScriptedLlm(playShop, { model: 'demo-script' }),
    onProgress: (line) => process.stderr.write(`${line}\n`),
    logger: loggerOf(settings, folder, options.debug === true, undo),
  });
  const hosted = undo.use(await hostHarness(harness, signal));
  const url = `${hosted.origin}/`;
  say(dimOut(`agent ${harness.agentId} at ${url}`));

  const connection = await connectAgent({ url, participant: DEMO_CUSTOMER, signal });
  const ending = await converse(connection, DEMO_MESSAGE, options.interactive ? 'ask' : DEMO_ANSWER);
  report(ending, folder);
  if (options.once) return ending.state === 'COMPLETED' ? EXIT.ok : EXIT.failure;
  say(`\nThe agent stays at ${url} until Ctrl-C. Try, in another terminal:`);
  say(`  ${sendCommand({ url, participant: DEMO_CUSTOMER, text: DEMO_OTHER_MESSAGE })}`);
  throw await untilAborted(signal);
}

function report(ending: Ending, folder: DemoFolder): void {
  say(`\nTask ${inertLine(ending.taskId)}: ${stateWords(ending)}`);
  for (const step of ending.plan) say(`  ${planLine(step)}`);
  for (const line of folder.ledger()) say(`Ledger: ${inertLine(line)}`);
}

function settingsOf(folder: DemoFolder, bind: string): Settings {
  const { HOME, XDG_CACHE_HOME } = process.env;
  return parseSettings(
    {
      agent: {
        id: 'shop',
        name: 'Shop',
        description: 'Looks after the orders of a small shop.',
        conversation: 'single',
      },
      temporal: {
        mode: 'embedded',
        embedded: { database_path: join(folder.path, 'temporal.sqlite3'), synchronous: 'normal' },
      },
      store: { sqlite_path: join(folder.path, 'store.db') },
      server: { bind },
      mcp_config: folder.mcpConfig,
    },
    // Not the whole environment: keys for other things are not the demo's business.
    { HOME, XDG_CACHE_HOME },
  );
}

/** To a file beside the store, as the screen belongs to the conversation; with `--debug` to standard error. */
function loggerOf(settings: Settings, folder: DemoFolder, debug: boolean, undo: AsyncDisposableStack) {
  const redactor = createRedactor(() => secretRegistry().snapshot());
  const { id: agent } = settings.agent;
  if (debug) return createLogger({ agent, redactor, level: 'debug' });
  const file = openSync(join(folder.path, 'harness.log'), 'a', 0o600);
  undo.defer(() => closeSync(file));
  const destination = { write: (text: string) => writeSync(file, text) };
  return createLogger({ agent, redactor, destination, format: 'pretty' });
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
