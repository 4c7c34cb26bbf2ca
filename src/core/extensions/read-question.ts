import type { QuestionRecord, TaskStore } from '../persistence/index.ts';
import { questionSeq } from './identifiers.ts';

/** The question with this id; undefined when there is none. */
export async function readQuestion(
  store: Pick<TaskStore, 'log'>,
  taskId: string,
  id: string,
): Promise<QuestionRecord | undefined> {
  const seq = questionSeq(taskId, id);
  const [entry] = seq === undefined ? [] : await store.log(taskId, { after: seq - 1, upTo: seq });
  return entry?.body.kind === 'question' ? entry.body.question : undefined;
}
