/**
 * Media besides A2A: what the agent says goes out to the participants they reach, what those say comes in through
 * admission like any message. Nothing is delivered that is not stored.
 */
export { Channels } from './channels.ts';
