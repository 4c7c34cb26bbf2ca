import type { JsonValue } from '../../core/base/index.ts';
import type { Call } from './call.ts';
import { parseList } from './list-tasks.ts';
import { assertTaskParams, parseSend } from './parse-message.ts';

const STREAMING: ReadonlySet<string> = new Set(['SendStreamingMessage', 'SubscribeToTask']);

/** A2A's methods; those this server does not offer say so themselves. */
const METHODS: ReadonlySet<string> = new Set([
  ...STREAMING,
  'SendMessage',
  'GetTask',
  'CancelTask',
  'ListTasks',
  'CreateTaskPushNotificationConfig',
  'GetTaskPushNotificationConfig',
  'ListTaskPushNotificationConfigs',
  'DeleteTaskPushNotificationConfig',
  'GetExtendedAgentCard',
]);

export function isMethod(name: string): boolean {
  return METHODS.has(name);
}

/** True for a method that is answered with a stream. */
export function isStreaming(method: string): boolean {
  return STREAMING.has(method);
}

/**
 * Checks parameters before the SDK's codecs, which fill in what is missing and reject nothing. What an operation needs
 * of them beyond the SDK's own objects comes back.
 *
 * @throws HarnessError `input.invalid` naming the field, `input.push_unsupported`.
 */
export function checkParams(method: string, params: JsonValue | undefined): Pick<Call, 'send' | 'list'> {
  switch (method) {
    case 'SendMessage':
    case 'SendStreamingMessage':
      return { send: parseSend(params) };
    case 'ListTasks':
      return { list: parseList(params) };
    case 'GetTask':
    case 'CancelTask':
    case 'SubscribeToTask':
      assertTaskParams(params);
      return {};
    default:
      return {};
  }
}
