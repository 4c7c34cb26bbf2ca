/** The Temporal worker of one agent: workflow bundle, activities, shutdown. The only home of `@temporalio/worker`. */
export { installRuntime, type RunningWorker, startWorker, type WorkerOptions } from './worker.ts';
