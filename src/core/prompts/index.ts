/** What goes into the context window around other people's words. Builds texts; reads no files and calls no model. */

export { type AgentIdentity, renderInstructions, renderTask } from './context.ts';
export { HELP_INSTRUCTIONS, renderHelpRequest } from './help.ts';
export { frameUntrusted } from './untrusted.ts';
