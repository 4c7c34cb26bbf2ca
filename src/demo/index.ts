/**
 * The demo's story: what the customer writes, a scripted model that handles it, and the shop's MCP servers in a folder
 * of their own. The model answers from the conversation it is shown, as a real one would; nothing here is faked beyond
 * that.
 */
export { createDemoFolder, type DemoFolder } from './folder.ts';
export { DEMO_ANSWER, DEMO_CUSTOMER, DEMO_MESSAGE, DEMO_OTHER_MESSAGE, playShop } from './story.ts';
