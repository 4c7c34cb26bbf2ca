/**
 * The Temporal that comes with the harness: finds or fetches the CLI, runs its dev server as a child beside the store,
 * and prepares the server at every start. It knows nothing of tasks, workers or settings, and it never decides whether
 * a harness is embedded: `service/harness` does.
 */
export { type DatabaseLock, lockDatabase } from './database-lock.ts';
export {
  type CliOrigin,
  type FindCliContext,
  type FindCliOptions,
  findTemporalCli,
  type TemporalCli,
} from './find-cli.ts';
export { type PrepareServerOptions, prepareServer } from './prepare-server.ts';
export {
  type EmbeddedExit,
  type EmbeddedTemporal,
  type EmbeddedTemporalOptions,
  startEmbeddedTemporal,
} from './start.ts';
