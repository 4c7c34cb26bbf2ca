import {
  type AgentConnection,
  AgentError,
  type Ending,
  follow,
  type Words,
} from '../interaction/client/index.ts';
import { inertLine } from '../interaction/terminal/index.ts';
import { createAsker } from './ask.ts';
import { conversationRenderer } from './terminal.ts';

/**
 * One participant's side of a task: the first message, then an answer to every question, given or asked for on standard
 * input, until the task waits for nothing from them.
 */
export async function converse(
  connection: AgentConnection,
  message: string,
  answer: 'ask' | (string & {}),
): Promise<Ending> {
  const { participant, signal } = connection;
  const renderer = conversationRenderer(inertLine(connection.agent));
  using asker = answer === 'ask' ? createAsker(signal) : undefined;
  const turn = async (words: Words): Promise<Ending> => {
    for await (const happening of follow(connection, words)) {
      renderer.show(happening);
      if (happening.kind === 'end') return happening;
    }
    throw new AgentError('not_an_agent', 'the stream ended without an end');
  };
  process.stdout.write(`\n${participant}: ${message}\n`);
  let ending = await turn({ text: message });
  for (;;) {
    const question = ending.questions.find(({ participantIds }) => participantIds.includes(participant));
    if (ending.state !== 'INPUT_REQUIRED' || question === undefined) return ending;
    const choice = question.options.length === 0 ? '' : ` (${question.options.map(inertLine).join(', ')})`;
    let text: string;
    if (asker) text = await asker.ask(`\n${participant}${choice}: `);
    else {
      text = answer;
      process.stdout.write(`\n${participant}: ${text}\n`);
    }
    ending = await turn({ text, taskId: ending.taskId, replyTo: question.id });
  }
}
