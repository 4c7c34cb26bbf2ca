import { assertNever } from '../../core/base/index.ts';
import type { Happening, Question } from '../client/index.ts';
import { inert, inertJson, inertLine } from './inert.ts';
import { planLine, stateWords } from './lines.ts';

/** What stands before the name of a tool that starts, ends, or fails. */
const TOOL_MARK = { started: '>', finished: '<', failed: '!' } as const;

/** Where text goes; `process.stdout` is one. */
export interface Sink {
  write(text: string): unknown;
}

export interface RendererOptions {
  /** The agent's text, and nothing else. */
  readonly out: Sink;
  /** Everything about it, in lines. */
  readonly err: Sink;
  /** How a line about the work looks; default as it is. */
  readonly dim?: (line: string) => string;
  /** Whose text it is, to stand before it where several speak; default nothing. */
  readonly speaker?: string;
}

/** Writes happenings as they come. */
export interface Renderer {
  show(happening: Happening): void;
}

/** Happenings for people: the agent's text as it is generated, and a line for everything else. */
export function createRenderer(options: RendererOptions): Renderer {
  const { out, err, dim = (line) => line, speaker = '' } = options;
  /** True while the last thing written to `out` was no end of a line. */
  let midLine = false;
  let shownTask: string | undefined;
  const text = (piece: string): void => {
    if (piece === '') return;
    out.write(inert(piece));
    midLine = !piece.endsWith('\n');
  };
  const endLine = (): void => {
    if (midLine) out.write('\n');
    midLine = false;
  };
  const line = (words: string): void => {
    endLine();
    err.write(`${dim(words)}\n`);
  };

  return {
    show(happening) {
      switch (happening.kind) {
        case 'task':
          if (happening.taskId !== shownTask) line(`task ${inertLine(happening.taskId)}`);
          shownTask = happening.taskId;
          break;
        case 'state':
          line(`- ${stateWords(happening)}`);
          break;
        case 'text':
          if (happening.start && midLine) line('- the text broke off; it starts again');
          if (happening.start && speaker !== '') text(`${speaker}: `);
          text(happening.text);
          break;
        case 'text_end':
          endLine();
          break;
        case 'plan':
          for (const step of happening.steps) {
            if (happening.changed.includes(step.id)) line(`  ${planLine(step)}`);
          }
          break;
        case 'tool':
          line(`${TOOL_MARK[happening.phase]} ${inertLine(happening.name)}`);
          break;
        case 'question':
          for (const words of questionLines(happening.question)) line(words);
          break;
        case 'notice':
          for (const words of inert(happening.text).split('\n')) line(`! ${words}`);
          break;
        case 'refused':
          line(`! not accepted: ${inertLine(happening.reason)}`);
          break;
        case 'other':
          line(`- ${inertLine(happening.name)} (cannot be shown here)`);
          break;
        case 'reconnecting':
          line(`- the connection was lost (${inertLine(happening.reason)}); reconnecting`);
          break;
        case 'end':
          endLine();
          break;
        default:
          assertNever(happening);
      }
    },
  };
}

/** Happenings for programs: one JSON object a line, the kind first. */
export function createJsonRenderer(out: Sink): Renderer {
  return { show: (happening) => void out.write(`${inertJson(JSON.stringify(happening))}\n`) };
}

function questionLines({ participantIds, text, options }: Question): string[] {
  const lines = inert(text).split('\n');
  const [first = '', ...rest] = lines;
  const choice = options.length === 0 ? [] : [`  options: ${options.map(inertLine).join(', ')}`];
  return [
    `? to ${inertLine(participantIds.join(', '))}: ${first}`,
    ...rest.map((each) => `  ${each}`),
    ...choice,
  ];
}
