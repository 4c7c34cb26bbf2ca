import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { Secret } from '../../../../core/security/index.ts';
import type { Problems } from '../problems.ts';
import type { SettingsFile } from '../schema/index.ts';
import type { Environment } from '../secrets.ts';

/** What every section needs to become settings. */
export interface Scope {
  readonly file: SettingsFile;
  /** True when the key was written, whatever its value. */
  readonly written: (key: string) => boolean;
  /** What was written at a key, coerced where it could be; undefined when nothing was. */
  readonly value: (key: string) => unknown;
  readonly env: Environment;
  readonly cwd: string;
  /** By dotted key. */
  readonly secrets: Readonly<Record<string, Secret | undefined>>;
  readonly warnings: string[];
  /** Keys that are accepted and have no effect. */
  readonly idle: string[];
  /** Everything that is wrong. */
  readonly report: Problems;
  /** The report, for the section `name`; thrown away when the section itself did not parse. */
  readonly problems: (name: string) => Problems;
}

/** Absolute, from the working directory. */
export function absolute(scope: Scope, path: string): string;
export function absolute(scope: Scope, path: string | undefined): string | undefined;
export function absolute(scope: Scope, path: string | undefined): string | undefined {
  return path === undefined ? undefined : resolve(scope.cwd, path);
}

/** The user's folder. */
export function home(env: Environment): string {
  return env.HOME || homedir();
}
