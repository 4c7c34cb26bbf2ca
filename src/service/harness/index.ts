/**
 * The composition root: settings in, a running agent out. The only place where the parts of the service meet; it wires
 * them and decides their order, and has no behaviour of its own.
 */
export {
  HarnessAlreadyStartedError,
  HarnessConflictError,
  HarnessNotStartedError,
  HarnessStoppedError,
} from './errors.ts';
export { Harness, type Listening } from './harness.ts';
export type { HarnessOptions } from './options.ts';
export {
  type LoadOptions,
  loadSettings,
  parseSettings,
  type Settings,
  type SettingsInput,
} from './settings/index.ts';
