import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError, messageOf } from '../core/base/index.ts';
import { HookChain } from '../core/hooks/index.ts';
import type { Tool } from '../core/tools/index.ts';

/** What tools modules bring. */
export interface Loaded {
  readonly tools: readonly Tool[];
  readonly hooks: HookChain;
}

/**
 * Imports the modules of `--tools`. Each has a default export: a tool, an array of tools, or `{ tools, hooks }`, where
 * `hooks` is a `HookChain` or a function that adds to one.
 *
 * @throws ConfigError naming the file.
 */
export async function loadToolsModules(files: readonly string[]): Promise<Loaded> {
  const tools: Tool[] = [];
  const chains: HookChain[] = [];
  const adders: ((chain: HookChain) => void)[] = [];
  for (const file of files) {
    const given = await importDefault(file);
    const parts = isObject(given) && ('tools' in given || 'hooks' in given) ? given : { tools: given };
    const { tools: some = [], hooks } = parts as { readonly tools?: unknown; readonly hooks?: unknown };
    for (const tool of Array.isArray(some) ? (some as unknown[]) : [some]) {
      if (!isTool(tool)) throw unfit(file);
      tools.push(tool);
    }
    if (typeof hooks === 'function') adders.push(hooks as (chain: HookChain) => void);
    else if (isHookChain(hooks)) chains.push(hooks);
    else if (hooks !== undefined) throw unfit(file);
  }
  const [hooks = new HookChain(), another] = chains;
  if (another !== undefined)
    throw new ConfigError(
      '--tools: only one module may export a HookChain; export a function as hooks instead',
    );
  for (const add of adders) add(hooks);
  return { tools, hooks };
}

async function importDefault(file: string): Promise<unknown> {
  try {
    const module = (await import(pathToFileURL(resolve(file)).href)) as { readonly default?: unknown };
    return module.default;
  } catch (error) {
    throw new ConfigError(`--tools ${file}: ${messageOf(error)}`, { cause: error });
  }
}

function unfit(file: string): ConfigError {
  return new ConfigError(
    `--tools ${file}: its default export must be a tool of defineTool, an array of tools, or { tools, hooks }`,
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** By shape: the module may have its own copy of the package. */
function isTool(value: unknown): value is Tool {
  return (
    isObject(value) &&
    'name' in value &&
    typeof value.name === 'string' &&
    'inputSchema' in value &&
    isObject(value.inputSchema) &&
    'run' in value &&
    typeof value.run === 'function'
  );
}

function isHookChain(value: unknown): value is HookChain {
  return isObject(value) && ['on', 'listens', 'run', 'phase'].every((name) => name in value);
}
