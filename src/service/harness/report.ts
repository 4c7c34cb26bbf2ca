import type { Logger } from '../../core/base/index.ts';
import type { ActivityEvent } from '../durable/activities/index.ts';

/** Says in the log what the agent does, one line per thing done. */
export function reportTo(logger: Logger): (event: ActivityEvent) => void {
  return (event) => {
    const { kind, taskId: task, ...fields } = event;
    switch (kind) {
      case 'model':
        logger.info('model answered', { task, ...fields });
        break;
      case 'tool':
        logger.info('tool ran', { task, ...fields });
        break;
      case 'state':
        logger.info('task state', { task, ...fields });
        break;
      case 'failure':
        logger.warn('attempt failed', {
          task,
          activity: event.activity,
          attempt: event.attempt,
          code: event.error.code,
          reason: event.error.message,
        });
        logger.debug('the error of that attempt', { task, error: event.error });
        break;
    }
  };
}
