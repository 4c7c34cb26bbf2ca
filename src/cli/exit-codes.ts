import { CommanderError } from 'commander';
import { ConfigError, HarnessError } from '../core/base/index.ts';
import { Interrupted } from './interrupted.ts';

/** What the process ends with (CL-3). */
export const EXIT = { ok: 0, failure: 1, configuration: 2, sighup: 129, sigint: 130, sigterm: 143 } as const;

/** The one place where an error becomes an exit code. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof Interrupted) return exitCodeOfSignal(error.signal);
  // Help and the version come as errors too, with 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.configuration;
  if (error instanceof ConfigError) return EXIT.configuration;
  if (error instanceof HarnessError && error.code === 'plugin.invalid') return EXIT.configuration;
  return EXIT.failure;
}

/** 128 and the signal's number, as a shell would say it. */
export function exitCodeOfSignal(signal: Interrupted['signal']): number {
  switch (signal) {
    case 'SIGHUP':
      return EXIT.sighup;
    case 'SIGINT':
      return EXIT.sigint;
    case 'SIGTERM':
      return EXIT.sigterm;
  }
}
