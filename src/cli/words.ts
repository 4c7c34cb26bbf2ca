import { basename, relative } from 'node:path';
import { inertLine } from '../interaction/terminal/index.ts';

const DEFAULT_URL = 'http://127.0.0.1:8080/';

export interface SendWords {
  readonly url: string;
  readonly participant?: string | undefined;
  readonly task?: string | undefined;
  readonly replyTo?: string | undefined;
  readonly text: string;
}

/** A `send` command line as a person can paste it, with what differs from the defaults. */
export function sendCommand({ url, participant, task, replyTo, text }: SendWords): string {
  const words = [programName(), 'send'];
  if (url !== DEFAULT_URL) words.push('--url', quoted(url));
  if (participant !== undefined) words.push('--participant', quoted(participant));
  if (task !== undefined) words.push('--task', quoted(task));
  if (replyTo !== undefined) words.push('--reply-to', quoted(replyTo));
  return [...words, `"${inertLine(text)}"`].join(' ');
}

/** How this program was called: by its name, or as a file in a checkout. */
function programName(): string {
  const called = process.argv[1] ?? '';
  if (!/^main\.[jt]s$/.test(basename(called))) return 'tiny-harness';
  const path = relative(process.cwd(), called);
  return `node ${path.startsWith('..') ? called : path}`;
}

/** Ids come from the agent: what a shell would act on stands in single quotes. */
function quoted(word: string): string {
  const shown = inertLine(word);
  return /^[\w:/.@%+=,-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", String.raw`'\''`)}'`;
}
