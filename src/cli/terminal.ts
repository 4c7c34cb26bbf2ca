import { createColors } from 'picocolors';
import { createRenderer, type Renderer } from '../interaction/terminal/index.ts';

const onErr = createColors(process.stderr.isTTY === true && !process.env.NO_COLOR);
const onOut = createColors(process.stdout.isTTY === true && !process.env.NO_COLOR);

/** A line of standard error about the work: dim on a terminal, plain elsewhere. */
export const dim = (text: string): string => onErr.dim(text);

/** The same for standard output. */
export const dimOut = (text: string): string => onOut.dim(text);

/** The agent's text on standard output, everything else on standard error. */
export function terminalRenderer(): Renderer {
  return createRenderer({ out: process.stdout, err: process.stderr, dim });
}

/** A whole conversation on standard output, where the order of things counts. */
export function conversationRenderer(speaker: string): Renderer {
  return createRenderer({ out: process.stdout, err: process.stdout, dim: dimOut, speaker });
}
