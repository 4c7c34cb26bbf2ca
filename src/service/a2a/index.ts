/**
 * The A2A surface over the log: card, JSON-RPC and HTTP+JSON, streams. Hands messages to admission through its port and reads the
 * store; it never runs the loop and knows nothing of Temporal.
 */
export { buildCard, type CardOptions } from './card.ts';
export type { ReadinessChecks } from './health.ts';
export { Projection } from './projection.ts';
export { A2AServer, type A2AServerOptions, type RequestOrigin } from './server.ts';
