import { isJsonObject } from '../base/index.ts';
import type { InboundMessage } from '../persistence/index.ts';
import { channelMessage } from './channel.ts';
import { MEDIA_TYPE } from './identifiers.ts';

/**
 * What the model reads of a message: its text parts, the text and parts of a channel part, other data as JSON.
 * Envelopes speak to the harness and are left out.
 */
export function textOf(message: InboundMessage): string {
  const texts = message.parts.flatMap((part): string[] => {
    if (part.kind === 'text') return [part.text];
    if (part.mediaType === MEDIA_TYPE.event) return [];
    if (part.mediaType === MEDIA_TYPE.channel) return [channelText(part.data)];
    return [JSON.stringify(part.data)];
  });
  return texts.filter((text) => text !== '').join('\n\n');
}

function channelText(data: unknown): string {
  const parsed = channelMessage.safeParse(data);
  if (!parsed.success) return isJsonObject(data) && typeof data.text === 'string' ? data.text : '';
  const { text, parts } = parsed.data;
  return [text, ...parts.map((part) => (part.kind === 'text' ? part.text : JSON.stringify(part.data)))]
    .filter((piece) => piece !== '')
    .join('\n');
}
