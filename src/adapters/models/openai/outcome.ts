import type { LlmFinish, ToolCall } from '../../../core/models/index.ts';

/**
 * How an answer ended (MD-2): refusal or content filter, then cut off, then calls present, then stop. Calls of an
 * answer that was refused or cut off are dropped: the last one may be half a call, and nobody can tell (MD-9).
 */
export function outcomeOf(
  answer: { readonly isRefused: boolean; readonly isCutOff: boolean },
  assembleCalls: () => readonly ToolCall[],
): { readonly finish: LlmFinish; readonly calls: readonly ToolCall[] } {
  if (answer.isRefused) return { finish: 'refusal', calls: [] };
  if (answer.isCutOff) return { finish: 'length', calls: [] };
  const calls = assembleCalls();
  return { finish: calls.length > 0 ? 'tool_calls' : 'stop', calls };
}
