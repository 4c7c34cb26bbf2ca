import type { z } from 'zod';
import { ConfigError } from '../../../core/base/index.ts';
import { knownKeys, nearestKey } from './known-keys.ts';
import { fileSchema } from './schema/index.ts';
import type { Table } from './tables.ts';

/** Collects every problem of a configuration, for one report (CF-1). */
export class Problems {
  readonly #lines: string[] = [];
  #otherThanSecrets = false;

  /** One problem. `key` is dotted, as in the file; `what` never holds the value of a secret. */
  add(key: string, what: string): void {
    this.#otherThanSecrets = true;
    this.#push(`${key}: ${what}`);
  }

  /** A secret that is needed and not there. */
  addMissingSecret(key: string, what: string): void {
    this.#push(`${key}: ${what}`);
  }

  /** What a schema found wrong in `written`, in its own words where it has some. */
  addIssues(issues: readonly z.core.$ZodIssue[], written: Table): void {
    for (const issue of issues) {
      if (issue.code === 'unrecognized_keys') {
        for (const name of issue.keys) this.#addUnknown(issue.path, name);
      } else if (issue.code === 'invalid_type' && at(written, issue.path) === undefined) {
        this.add(dotted(issue.path), 'is required');
      } else {
        // Zod's own sentence for a section that is no table speaks of objects.
        const isOwn = issue.message.startsWith('Invalid input: expected object');
        this.add(dotted(issue.path), isOwn ? 'must be a table' : issue.message);
      }
    }
  }

  /** @throws ConfigError with every problem; code `config.secret_missing` when nothing else is wrong */
  throwIfAny(): void {
    if (this.#lines.length === 0) return;
    throw new ConfigError(this.#lines, {
      code: this.#otherThanSecrets ? 'config.invalid' : 'config.secret_missing',
    });
  }

  #addUnknown(path: readonly PropertyKey[], name: string): void {
    this.#otherThanSecrets = true;
    const known = knownKeys(fileSchema);
    // Positions in a list of tables are no part of a key that could be meant.
    const table = dotted(path.filter((part) => typeof part === 'string'));
    const near = nearestKey(table === '' ? name : `${table}.${name}`, known);
    const siblings = known
      .filter((key) => parent(key) === table)
      .map((key) => key.slice(key.lastIndexOf('.') + 1));
    const hint = near === undefined ? `known here: ${siblings.join(', ')}` : `did you mean ${near}?`;
    this.#push(`unknown key ${dotted([...path, name])}: ${hint}`);
  }

  #push(line: string): void {
    if (!this.#lines.includes(line)) this.#lines.push(line);
  }
}

function parent(key: string): string {
  return key.includes('.') ? key.slice(0, key.lastIndexOf('.')) : '';
}

/** `agents[0].url` from a path. */
function dotted(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, part) =>
      typeof inner === 'object' && inner !== null ? (inner as Record<PropertyKey, unknown>)[part] : undefined,
    value,
  );
}
