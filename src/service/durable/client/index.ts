/** The client side of the durable design: hands messages and cancels to tasks' workflows. */
export { TaskClient } from './task-client.ts';
