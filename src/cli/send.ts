import { ConfigError } from '../core/base/index.ts';
import { AgentError, connectAgent, type Ending, follow } from '../interaction/client/index.ts';
import { createJsonRenderer, inertLine, stateWords } from '../interaction/terminal/index.ts';
import { EXIT } from './exit-codes.ts';
import { participantOf } from './participant.ts';
import { dim, terminalRenderer } from './terminal.ts';
import { sendCommand } from './words.ts';

export interface SendOptions {
  readonly url: string;
  readonly task?: string;
  readonly replyTo?: string;
  readonly participant?: string;
  readonly json?: boolean;
  readonly debug?: boolean;
}

/** `tiny-harness send`: one message, followed until the task waits again or has ended. */
export async function send(text: string, options: SendOptions, signal: AbortSignal): Promise<number> {
  if (text.trim() === '') throw new ConfigError('the message is empty');
  if (options.replyTo !== undefined && options.task === undefined)
    throw new ConfigError('--reply-to needs --task, the task that asked');
  if (!/^https?:\/\//.test(options.url) || !URL.canParse(options.url))
    throw new ConfigError(`--url: "${options.url}" is no http or https URL`);
  const participant = participantOf(options.participant);
  const renderer = options.json ? createJsonRenderer(process.stdout) : terminalRenderer();
  const words = {
    text,
    ...(options.task === undefined ? {} : { taskId: options.task }),
    ...(options.replyTo === undefined ? {} : { replyTo: options.replyTo }),
  };
  let taskId: string | undefined;
  try {
    const connection = await connectAgent({ url: options.url, participant, signal });
    for await (const happening of follow(connection, words)) {
      renderer.show(happening);
      if (happening.kind === 'task') taskId = happening.taskId;
      if (happening.kind !== 'end') continue;
      if (!options.json)
        for (const line of closingLines(happening, options)) process.stderr.write(`${dim(line)}\n`);
      return exitCodeOfEnding(happening);
    }
    return EXIT.failure;
  } catch (error) {
    if (signal.aborted && taskId !== undefined)
      process.stderr.write(`${dim(`no longer following; task ${inertLine(taskId)} goes on`)}\n`);
    if (
      error instanceof AgentError &&
      error.kind === 'unreachable' &&
      error.message.includes('ECONNREFUSED')
    ) {
      throw new AgentError(
        'unreachable',
        `nothing listens at ${options.url}; start an agent with "tiny-harness serve" or "tiny-harness demo", or name another with --url`,
        { cause: error },
      );
    }
    throw error;
  }
}

/** 0 when the task is completed or waits for somebody. */
export function exitCodeOfEnding({ state, refused }: Ending): number {
  if (refused) return EXIT.failure;
  return state === 'COMPLETED' || state === 'INPUT_REQUIRED' || state === 'AUTH_REQUIRED'
    ? EXIT.ok
    : EXIT.failure;
}

/** The task, its state, and how to answer what it asks. */
function closingLines(ending: Ending, options: SendOptions): string[] {
  const lines = [`task ${ending.taskId} is ${stateWords(ending)}`];
  const { questions } = ending;
  const { url, participant } = options;
  for (const question of questions) {
    const replyTo = questions.length > 1 ? question.id : undefined;
    lines.push(
      `answer ${questions.length > 1 ? `"${question.text.split('\n')[0]}" ` : ''}with: ${sendCommand({ url, participant, task: ending.taskId, replyTo, text: 'answer' })}`,
    );
  }
  if (questions.length === 0 && ending.state === 'INPUT_REQUIRED')
    lines.push(`go on with: ${sendCommand({ url, participant, task: ending.taskId, text: 'text' })}`);
  return lines;
}
