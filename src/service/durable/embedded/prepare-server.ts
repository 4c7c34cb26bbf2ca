import { Connection } from '@temporalio/client';
import { msNumberToTs, optionalTsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { ConfigError, HarnessError } from '../../../core/base/index.ts';

const KEYWORD = proto.temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD;
/** The server's own least. */
const LEAST_RETENTION_MS = 3600_000;
const CALL_TIMEOUT_MS = 10_000;

/** The search attributes of a task's workflow (DU-10); each is a keyword. */
const TASK_SEARCH_ATTRIBUTES = ['A2AContextId', 'A2ATaskState', 'TinyHarnessAgent'] as const;

export interface PrepareServerOptions {
  /** How long closed workflows are kept. Milliseconds; at least one hour. */
  readonly retentionMs: number;
  /** Registered as keywords. Default `TASK_SEARCH_ATTRIBUTES`. */
  readonly searchAttributes?: readonly string[] | undefined;
  /** Default `default`. */
  readonly namespace?: string | undefined;
}

/**
 * Registers the search attributes and sets the retention of closed workflows (EM-4). To be done at every start: a dev
 * server keeps closed workflows for a day and ignores its own flags on a file that exists. Changes nothing that is as
 * it should be.
 *
 * @throws ConfigError when the retention is below an hour; HarnessError `temporal.start_failed` when the server has one
 *   of the attributes with another type; what the client throws when the server does not answer.
 */
export async function prepareServer(address: string, options: PrepareServerOptions): Promise<void> {
  const { retentionMs, searchAttributes = TASK_SEARCH_ATTRIBUTES, namespace = 'default' } = options;
  if (retentionMs < LEAST_RETENTION_MS)
    throw new ConfigError(
      `Temporal keeps closed workflows for at least one hour, not ${retentionMs / 1000} s`,
    );
  const connection = await Connection.connect({ address });
  try {
    await connection.withDeadline(Date.now() + CALL_TIMEOUT_MS, async () => {
      await registerSearchAttributes(connection, namespace, searchAttributes);
      await setRetention(connection, namespace, retentionMs);
    });
  } finally {
    await connection.close();
  }
}

async function registerSearchAttributes(
  connection: Connection,
  namespace: string,
  names: readonly string[],
): Promise<void> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const wrong = names.filter(
    (name) => customAttributes[name] !== undefined && customAttributes[name] !== KEYWORD,
  );
  if (wrong.length > 0)
    throw new HarnessError(
      'temporal.start_failed',
      `The Temporal server has ${wrong.join(', ')} as search attributes of another type than Keyword. Remove them there, or turn temporal.search_attributes off.`,
      { details: { attributes: wrong } },
    );
  const missing = names.filter((name) => customAttributes[name] === undefined);
  if (missing.length === 0) return;
  // One that somebody else registers in this moment is not an error: adding is idempotent.
  await connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(missing.map((name) => [name, KEYWORD])),
  });
}

async function setRetention(connection: Connection, namespace: string, retentionMs: number): Promise<void> {
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  if (optionalTsToMs(config?.workflowExecutionRetentionTtl) === retentionMs) return;
  await connection.workflowService.updateNamespace({
    namespace,
    config: { workflowExecutionRetentionTtl: msNumberToTs(retentionMs) },
  });
}
