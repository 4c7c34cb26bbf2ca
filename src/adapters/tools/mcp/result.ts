import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import type { JsonValue } from '../../../core/base/index.ts';
import type { ToolResult } from '../../../core/tools/index.ts';

/** What the model reads of an MCP result: its texts, and a reference in place of everything that is not text (TL-4). */
export function toToolResult(result: CallToolResult): ToolResult {
  const data = result.structuredContent as JsonValue | undefined;
  const parts = result.content.map(textOf).filter((part) => part !== '');
  const text = parts.length === 0 && data !== undefined ? JSON.stringify(data) : parts.join('\n');
  return {
    text,
    ...(result.isError === true && { isError: true }),
    ...(data !== undefined && { data }),
  };
}

function textOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return `[${block.type} ${block.mimeType}, ${byteLength(block.data)} bytes]`;
    case 'resource_link':
      return `[resource ${block.uri}${block.mimeType === undefined ? '' : ` ${block.mimeType}`}]`;
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return `[resource ${resource.uri}]\n${resource.text}`;
      const type = resource.mimeType ?? 'application/octet-stream';
      return `[resource ${resource.uri} ${type}, ${byteLength(resource.blob)} bytes]`;
    }
    default:
      return `[${String((block as { type: unknown }).type)}]`;
  }
}

function byteLength(base64: string): number {
  return Buffer.byteLength(base64, 'base64');
}
