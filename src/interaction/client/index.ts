/**
 * How surfaces and commands talk to an agent: over A2A, through the official SDK, and nothing else. Turns a stream into
 * typed happenings and keeps following a task over a lost connection. Draws nothing and knows no terminal.
 */
export { type AgentConnection, type ConnectOptions, connectAgent } from './connect.ts';
export { AgentError, type AgentErrorKind } from './errors.ts';
export { follow } from './follow.ts';
export type { Ending, Happening, Question, Step } from './happening.ts';
export type { Words } from './request.ts';
