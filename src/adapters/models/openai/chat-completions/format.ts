import type { WireFormat } from '../wire-format.ts';
import { ChatCompletionsReader } from './answer.ts';
import { chatCompletionsBody } from './request.ts';

/** The Chat Completions API. */
export const CHAT_COMPLETIONS: WireFormat = {
  api: 'chat_completions',
  send: (client, { request, names, settings, signal }) =>
    client.chat.completions.create(chatCompletionsBody(request, names, settings), { signal }),
  reader: (names, model) => new ChatCompletionsReader(names, model),
};
