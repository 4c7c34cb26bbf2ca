/** The client side of the durable design: hands messages and cancels to tasks' workflows. */
export { connectClient } from './connect.ts';
export { TaskClient } from './task-client.ts';
