/**
 * What the terminal surfaces share: other people's text made inert, and happenings written as lines. Reads no input and
 * reaches no agent.
 */
export { inert, inertJson, inertLine } from './inert.ts';
export { planLine, stateWords } from './lines.ts';
export {
  createJsonRenderer,
  createRenderer,
  type Renderer,
  type RendererOptions,
  type Sink,
} from './renderer.ts';
