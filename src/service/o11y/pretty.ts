import { createColors } from 'picocolors';
import { isJsonObject, type JsonValue } from '../../core/base/index.ts';

/** One JSON log line as a person reads it: `12:03:04 info  agent  message key=value`, local time. */
export function prettyLine(line: string, options: { readonly color: boolean }): string {
  const parsed = JSON.parse(line) as JsonValue;
  if (!isJsonObject(parsed)) return line;
  const { level, time, agent, msg, ...fields } = parsed;
  const paint = createColors(options.color);
  const colors: Record<string, (text: string) => string> = {
    debug: paint.gray,
    info: paint.green,
    warn: paint.yellow,
    error: paint.red,
  };
  const name = String(level);
  const color = colors[name] ?? String;
  const head = [paint.dim(clock(String(time))), color(name.padEnd(5)), `${inert(String(agent))} `];
  const stacks: string[] = [];
  const rest = Object.entries(fields).map(([key, value]) => {
    if (isJsonObject(value) && typeof value.stack === 'string') {
      stacks.push(value.stack);
      return `${key}=${quoted(String(value.message))}`;
    }
    return `${inert(key)}=${quoted(typeof value === 'string' ? value : JSON.stringify(value))}`;
  });
  const text = [...head, inert(String(msg)), ...rest.map((field) => paint.dim(field))].join(' ');
  return [text, ...stacks.map((stack) => paint.dim(indent(stack)))].join('\n');
}

function clock(time: string): string {
  const date = new Date(time);
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((n) => String(n).padStart(2, '0'))
    .join(':');
}

function quoted(text: string): string {
  return /^[^\s"=]+$/.test(text) ? inert(text) : inert(JSON.stringify(text));
}

/** Control characters shown, not obeyed: a log line quotes what strangers sent (SE-8). */
function inert(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, (char) => {
    return `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
  });
}

function indent(stack: string): string {
  return stack
    .split('\n')
    .map((line) => `    ${inert(line)}`)
    .join('\n');
}
