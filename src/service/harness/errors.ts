import { HarnessError } from '../../core/base/index.ts';

/** Another harness in this process holds the agent id, the queue or the store; the message names both. */
export class HarnessConflictError extends HarnessError {
  constructor(message: string) {
    super('harness.conflict', message);
  }
}

/** `start()` was called a second time. */
export class HarnessAlreadyStartedError extends HarnessError {
  constructor(agentId: string) {
    super('harness.already_started', `agent ${agentId} was started already; a harness runs once`);
  }
}

/** `start()` was called after `stop()`. */
export class HarnessStoppedError extends HarnessError {
  constructor(agentId: string) {
    super('harness.stopped', `agent ${agentId} was stopped; make a new Harness`);
  }
}

/** Something needs a started harness. */
export class HarnessNotStartedError extends HarnessError {
  constructor(agentId: string) {
    super('harness.not_started', `agent ${agentId} is not started; await harness.start() first`);
  }
}
