import type { Selectable } from 'kysely';
import type { JsonValue } from '../../../core/base/index.ts';
import {
  checkRecord,
  type InboxRow,
  type LogEntry,
  parseRecord,
  RECORDS,
  type TaskRow,
  type TranscriptRow,
} from '../../../core/persistence/index.ts';
import type { StoreTables } from './schema.ts';

// Rows as records. Each throws `store.corrupt` for a row that is none.

export function toTask(row: Selectable<StoreTables['tasks']>): TaskRow {
  const place = { table: 'tasks', id: [row.id] };
  return {
    id: row.id,
    contextId: row.context_id,
    reporter: row.reporter,
    state: checkRecord(RECORDS.taskState, row.state, place),
    subState: checkRecord(RECORDS.subState, row.sub_state, place),
    statusSeq: row.status_seq,
    data: parseRecord(RECORDS.taskData, row.data, place),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    log: row.log,
    transcript: row.transcript,
  };
}

export function toEntry(row: Selectable<StoreTables['events']>): LogEntry {
  return {
    seq: row.seq,
    key: row.key,
    exchange: row.exchange,
    at: row.at,
    body: parseRecord(RECORDS.logBody, row.body, { table: 'events', id: [row.task_id, row.seq] }),
  };
}

export function toInbox(row: Selectable<StoreTables['inbox']>): InboxRow {
  const place = { table: 'inbox', id: [row.key] };
  return {
    key: row.key,
    taskId: row.task_id,
    sender: row.sender,
    senderKind: checkRecord(RECORDS.participantKind, row.sender_kind, place),
    messageId: row.message_id,
    bodyHash: row.body_hash,
    message: parseRecord(RECORDS.message, row.message, place),
    mail: parseRecord(RECORDS.mail, row.mail, place),
    receivedAt: row.received_at,
    consumed: row.consumed !== 0,
  };
}

export function toTranscript(row: Selectable<StoreTables['transcript']>): TranscriptRow {
  const place = { table: 'transcript', id: [row.task_id, row.n] };
  return { n: row.n, key: row.key, item: parseRecord(RECORDS.transcriptItem, row.item, place) };
}

export function toEffect(row: Selectable<StoreTables['effects']>): JsonValue {
  return parseRecord(RECORDS.effect, row.body, { table: 'effects', id: [row.task_id, row.key] });
}
