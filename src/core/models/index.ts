/** The port to language models. Adapters live in `adapters/models/*`; a scripted one in `testing/`. */
export {
  invokeLlm,
  type LlmEvent,
  type LlmFinish,
  type LlmInputItem,
  type LlmPort,
  type LlmRequest,
  type LlmResponse,
  type LlmUsage,
  type ReasoningEffort,
  type ToolCall,
  type ToolDefinition,
} from './llm.ts';
