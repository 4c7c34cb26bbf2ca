import type { Logger } from '../../core/base/index.ts';
import type { ChannelMedium } from '../../core/channels/index.ts';
import type { Command } from '../../core/commands/index.ts';
import type { HookChain } from '../../core/hooks/index.ts';
import type { LlmPort } from '../../core/models/index.ts';
import type { Tool } from '../../core/tools/index.ts';

/** What code gives a harness beyond its settings. */
export interface HarnessOptions {
  /** A model in code, instead of the configured one: a scripted one in tests. */
  readonly llm?: LlmPort;
  /** Tools in code (`defineTool`). */
  readonly tools?: readonly Tool[];
  /** Slash commands in code (`defineCommand`). One replaces a built-in one of the same name. */
  readonly commands?: readonly Command[];
  /** Default true; false: no commands but those of `commands`. */
  readonly builtinCommands?: boolean;
  /** Ways to reach participants besides A2A. */
  readonly media?: readonly ChannelMedium[];
  /** Executors around the agent's operations. */
  readonly hooks?: HookChain;
  /** The path below `server.base_url` at which the harness is mounted. */
  readonly prefix?: string;
  /** Default true; false: another process runs the worker. */
  readonly withWorker?: boolean;
  /** Default: lines on standard error, at the configured level. */
  readonly logger?: Logger;
  /** Told what a slow start is waiting for. Default: the log. */
  readonly onProgress?: (line: string) => void;
  /** Default `process.env`; read for failpoints alone. */
  readonly env?: NodeJS.ProcessEnv;
}
