/**
 * The A2A surface over the log: card, JSON-RPC, streams. Hands messages to admission through its port and reads the
 * store; it never runs the loop and knows nothing of Temporal.
 */
export { buildCard, type CardOptions } from './card.ts';
export { Projection } from './projection.ts';
export { A2AServer, type A2AServerOptions } from './server.ts';
