import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf } from '../../../core/base/index.ts';
import { Secret } from '../../../core/security/index.ts';
import type { Problems } from './problems.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface SecretSource {
  /** The dotted key of the file. */
  readonly key: string;
  /** The variable that holds it; `<variable>_FILE` may name a file instead. */
  readonly variable: string;
  /** What the file says, if anything. */
  readonly written: string | undefined;
}

/** Reads secrets, which come from the environment only (SE-1, CF-4). */
export class SecretReader {
  readonly #env: Environment;
  readonly #cwd: string;
  readonly #problems: Problems;

  constructor(env: Environment, cwd: string, problems: Problems) {
    this.#env = env;
    this.#cwd = cwd;
    this.#problems = problems;
  }

  /**
   * The secret, or undefined when there is none. A key that says `env:NAME` is read from that variable, whatever the
   * usual one holds: it is how several agents of one process have a key each. Any other text in the file is a problem.
   */
  read({ key, variable, written }: SecretSource): Secret | undefined {
    if (written === undefined) return this.#from(key, variable);
    const named = /^env:([A-Za-z_][A-Za-z0-9_]*)$/.exec(written)?.[1];
    if (named === undefined) {
      this.#problems.add(
        key,
        `a secret does not stand in a configuration; set the environment variable ${variable} (or ${variable}_FILE), or write "env:${variable}"`,
      );
      return undefined;
    }
    const secret = this.#from(key, named);
    if (secret === undefined)
      this.#problems.addMissingSecret(key, `the environment variable ${named} is not set`);
    return secret;
  }

  /** True when the variable or its `_FILE` form is set; an empty one counts as unset. */
  isSet(variable: string): boolean {
    return this.#value(variable) !== undefined || this.#value(`${variable}_FILE`) !== undefined;
  }

  #from(key: string, variable: string): Secret | undefined {
    const direct = this.#value(variable);
    if (direct !== undefined) return new Secret(direct);
    const file = this.#value(`${variable}_FILE`);
    if (file === undefined) return undefined;
    try {
      const content = readFileSync(resolve(this.#cwd, file), 'utf8').trim();
      if (content !== '') return new Secret(content);
      this.#problems.add(key, `the file that ${variable}_FILE names is empty: ${file}`);
    } catch (error) {
      this.#problems.add(key, `the file that ${variable}_FILE names cannot be read: ${messageOf(error)}`);
    }
    // The report has the problem; a stand-in keeps "not set" from being reported too.
    return new Secret('');
  }

  #value(variable: string): string | undefined {
    const value = this.#env[variable]?.trim();
    return value === '' ? undefined : value;
  }
}
