/** The port to language models. Adapters live in `adapters/models/*`; a scripted one in `testing/`. */
export { invokeLlm } from './invoke.ts';
export type {
  LlmEvent,
  LlmFinish,
  LlmInputItem,
  LlmPort,
  LlmRequest,
  LlmResponse,
  LlmUsage,
  ReasoningEffort,
  ToolCall,
  ToolDefinition,
} from './llm.ts';
export { costOf, type ModelPrice } from './prices.ts';
