/** Adapters between a web-standard handler and the frameworks it is mounted on. Thin: no features of their own. */
export { toNodeHandler } from './node.ts';
