/**
 * The workflows, as the bundler reads them. Pure: whatever is imported from here runs in Temporal's sandbox and is
 * replayed, so no clock, no randomness of our own, no I/O, no npm package but Temporal's workflow SDK.
 */
export { TaskWorkflow } from './task-workflow.ts';
