import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';

/** What a command ends with; absent means 0. */
type Result = Promise<number | undefined>;

/** Keeps the exit code of the command that ran. */
export interface Outcome {
  code: number;
}

/**
 * The command line (CL-2). A command's code is loaded when it runs: `--help` and `send` need no Temporal and no store.
 */
export function createProgram(signal: AbortSignal, outcome: Outcome): Command {
  const run =
    <A extends readonly unknown[]>(command: (...args: A) => Result) =>
    async (...args: A): Promise<void> => {
      outcome.code = (await command(...args)) ?? 0;
    };
  const program = new Command('tiny-harness')
    .description('Runs an AI agent as durable tasks: A2A in front, Temporal behind.')
    .version(version(), '-V, --version')
    .exitOverride()
    // The error itself is reported by main, in one line.
    .configureOutput({ outputError: () => {} })
    .helpCommand(false)
    .addHelpText('after', '\nExit codes: 0 done, 1 failure, 2 configuration, 130 SIGINT, 143 SIGTERM.');
  const debug = () => new Option('--debug', 'log in detail, and show the stack of an error');
  const config = () =>
    new Option('--config <file>', 'the configuration (default: ~/.tiny-harness/config.toml)');

  program
    .command('serve')
    .description('run the agent of a configuration and serve it over A2A')
    .addOption(config())
    .option('--bind <host:port>', 'where to listen, instead of server.bind')
    .option('--with-worker', 'run the worker in this process too; always so with an embedded Temporal')
    .option('--tools <file>', 'an ES module with tools in code; may be repeated', collected)
    .addOption(debug())
    .addHelpText('after', TOOLS_HELP)
    .action(run(async (options) => (await import('./serve.ts')).serve(options, signal)));

  program
    .command('worker')
    .description('run the worker of a configuration, beside a server that has none')
    .addOption(config())
    .option('--tools <file>', 'an ES module with tools in code; may be repeated', collected)
    .addOption(debug())
    .addHelpText('after', TOOLS_HELP)
    .action(run(async (options) => (await import('./worker.ts')).worker(options, signal)));

  program
    .command('send')
    .description('send one message to an agent and show what it does')
    .argument('<text>', 'the message')
    .option('--url <url>', 'where the agent is', 'http://127.0.0.1:8080/')
    .option('--task <id>', 'the task it goes to; without it a new one begins')
    .option('--reply-to <id>', 'the question it answers; needed when several are open')
    .option('--participant <id>', 'who says it (default: your user name)')
    .option('--json', 'print one JSON object for each event')
    .addOption(debug())
    .addHelpText('after', SEND_HELP)
    .action(run(async (text, options) => (await import('./send.ts')).send(text, options, signal)));

  program
    .command('demo')
    .description('show a whole task with a scripted model and two MCP servers; needs no key')
    .option('--interactive', 'answer the question of the agent yourself')
    .option('--once', 'exit when the task has ended')
    .option('--keep', 'keep the files of the demo')
    .option('--bind <host:port>', 'where the agent listens; port 0 is a free one', '127.0.0.1:0')
    .addOption(debug())
    .action(run(async (options) => (await import('./demo.ts')).demo(options, signal)));

  program
    .command('config')
    .description('show the resolved configuration, secrets masked')
    .addOption(config())
    .option('--json', 'as JSON')
    .addOption(debug())
    .action(run(async (options) => (await import('./config.ts')).showConfig(options)));

  program
    .command('doctor')
    .description('check what a configuration needs, and say what to do')
    .addOption(config())
    .option('--json', 'as JSON')
    .addOption(debug())
    .action(run(async (options) => (await import('./doctor.ts')).doctor(options, signal)));

  const tasks = program
    .command('tasks')
    .description('the tasks in the store; needs no server, and does not disturb one')
    .helpCommand(false);
  tasks
    .command('list')
    .description('one line for each task, the newest change first')
    .option('--waiting', 'only those that wait for somebody, with what they ask')
    .option('--participant <id>', 'with --waiting: only what waits for this participant')
    .option('--limit <n>', 'how many at most', positive, 50)
    .option('--after <id>', 'go on behind this task')
    .option('--json', 'as JSON, one task a line')
    .addOption(config())
    .addOption(debug())
    .action(run(async (options) => (await import('./tasks.ts')).listTasks(options)));
  tasks
    .command('show')
    .description('one task with its log')
    .argument('<id>', 'the id of the task')
    .option('--json', 'as JSON')
    .addOption(config())
    .addOption(debug())
    .action(run(async (id, options) => (await import('./tasks.ts')).showTask(id, options)));

  program
    .command('temporal')
    .description('the Temporal that comes with the harness')
    .helpCommand(false)
    .command('install')
    .description('make sure that the Temporal CLI is here')
    .addOption(new Option('--config <file>', 'a configuration with [temporal.embedded]'))
    .addOption(debug())
    .action(run(async (options) => (await import('./temporal-install.ts')).installTemporal(options, signal)));

  return program;
}

const TOOLS_HELP = `
A tools module has a default export: a tool, an array of tools, or { tools, hooks }.

  import { defineTool } from 'tiny-harness';
  import { z } from 'zod';
  export default defineTool({
    name: 'app/add',
    description: 'Adds two numbers.',
    input: z.object({ a: z.number(), b: z.number() }),
    run: ({ a, b }) => String(a + b),
  });

"hooks" is a HookChain, or a function that gets one and adds to it. SIGTERM drains and exits with 0.`;

const SEND_HELP = `
The text of the agent goes to standard output, everything else to standard error. The exit code is 0 when the task is
completed or waits for somebody, 1 when it failed, was canceled or rejected, or the message was not accepted.`;

function collected(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function positive(value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new InvalidArgumentError('It must be a whole number above 0.');
  return Number(value);
}

/** From the package, which is two folders up from source and from `dist` alike. */
function version(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
