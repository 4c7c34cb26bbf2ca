import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { JsonValue } from '../../core/base/index.ts';
import type { TaskState } from '../../core/loop/index.ts';
import type { TaskListQuery, TaskPlace } from '../../core/persistence/index.ts';
import { checked, historyLength, invalid } from './parse-message.ts';
import { STATE_NAMES } from './states.ts';

const DEFAULT_PAGE = 50;
const LARGEST_PAGE = 100;

/** Protobuf's JSON writes what is absent as an empty text or a zero. */
const text = z
  .string()
  .max(1024)
  .nullish()
  .transform((value) => value || undefined);

const listParams = z.looseObject({
  contextId: text,
  status: z.union([z.string(), z.number()]).nullish(),
  pageSize: z.number().int().min(1).max(LARGEST_PAGE).nullish(),
  pageToken: text,
  historyLength,
  statusTimestampAfter: z.union([z.literal(''), z.iso.datetime({ offset: true })]).nullish(),
  includeArtifacts: z.boolean().nullish(),
});

/** A `ListTasks` as it came, checked; its reader is not known yet. */
export interface ParsedList {
  readonly filters: Pick<TaskListQuery, 'contextId' | 'state' | 'since'>;
  readonly pageSize: number;
  readonly pageToken: string | undefined;
  /** How many messages of each task come along; none unless asked for. */
  readonly historyLength: number;
  readonly includeArtifacts: boolean;
}

/**
 * Reads the parameters of `ListTasks`.
 *
 * @throws HarnessError `input.invalid` naming the field.
 */
export function parseList(params: JsonValue | undefined): ParsedList {
  const asked = checked(listParams, params ?? {}, '');
  const state = stateOf(asked.status);
  const since = asked.statusTimestampAfter;
  return {
    filters: {
      ...(asked.contextId === undefined ? {} : { contextId: asked.contextId }),
      ...(state === undefined ? {} : { state }),
      ...(since ? { since: new Date(since).toISOString() } : {}),
    },
    pageSize: asked.pageSize ?? DEFAULT_PAGE,
    pageToken: asked.pageToken,
    historyLength: asked.historyLength ?? 0,
    includeArtifacts: asked.includeArtifacts === true,
  };
}

/** What the store is asked for a page. @throws HarnessError `input.invalid` for a token of something else. */
export function queryOf(list: ParsedList, reader: string): TaskListQuery {
  const after = list.pageToken === undefined ? undefined : placeOf(list.pageToken, list, reader);
  return { ...list.filters, reader, limit: list.pageSize, ...(after === undefined ? {} : { after }) };
}

/** The token of the page behind a place: good for the same list of the same reader. */
export function pageToken(place: TaskPlace, list: ParsedList, reader: string): string {
  const parts = [place.statusAt, place.taskId, fingerprint(list, reader)];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

const tokenParts = z.tuple([z.iso.datetime(), z.string(), z.string()]);

function placeOf(token: string, list: ParsedList, reader: string): TaskPlace {
  const [statusAt, taskId, of] = tokenParts.safeParse(unpacked(token)).data ?? [];
  if (statusAt === undefined || taskId === undefined || of !== fingerprint(list, reader)) {
    throw invalid(
      'pageToken',
      'is not the nextPageToken of this list; ask with the same filters, or without it',
    );
  }
  return { statusAt, taskId };
}

function unpacked(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString());
  } catch {
    return undefined;
  }
}

function fingerprint({ filters: { contextId, state, since } }: ParsedList, reader: string): string {
  const of = JSON.stringify([reader, contextId ?? null, state ?? null, since ?? null]);
  return createHash('sha256').update(of).digest('base64url').slice(0, 16);
}

function stateOf(status: string | number | null | undefined): TaskState | undefined {
  if (!status || status === 'TASK_STATE_UNSPECIFIED') return undefined;
  const state = STATE_NAMES.get(status);
  if (state === undefined) throw invalid('status', 'is not a state of a task');
  return state;
}
