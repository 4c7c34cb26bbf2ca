/**
 * The published test kit: a scripted model, a model server on a local port, a clock that stands still, a medium that is
 * pulled.
 */
export { FakeClock } from './fake-clock.ts';
export { proposedHelp } from './help-decision.ts';
export {
  type ModelServer,
  type ModelServerOptions,
  type RecordedRequest,
  startModelServer,
} from './model-server.ts';
export {
  type AnswerReply,
  contextExceeded,
  type FaultReply,
  type ModelReply,
  type RawReply,
  type ReplyCall,
  type ServerHabits,
} from './model-server-replies.ts';
export {
  PulledMedium,
  type PulledMediumOptions,
  type PulledReply,
  type SentMessage,
} from './pulled-medium.ts';
export {
  call,
  reply,
  type Script,
  type ScriptedCall,
  ScriptedLlm,
  type ScriptedLlmOptions,
  type ScriptedReply,
} from './scripted-llm.ts';
