import type { WireFormat } from '../wire-format.ts';
import { ResponsesReader } from './answer.ts';
import { responsesBody } from './request.ts';

/** The Responses API. */
export const RESPONSES: WireFormat = {
  api: 'responses',
  send: (client, { request, names, settings, signal }) =>
    client.responses.create(responsesBody(request, names, settings), { signal }),
  reader: (names, model) => new ResponsesReader(names, model),
};
