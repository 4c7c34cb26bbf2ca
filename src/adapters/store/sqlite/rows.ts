import type { Selectable } from 'kysely';
import type { MailItem, ParticipantKind, SubState, TaskData, TaskState } from '../../../core/loop/index.ts';
import type {
  InboundMessage,
  InboxRow,
  LogBody,
  LogEntry,
  TaskRow,
  TranscriptItem,
  TranscriptRow,
} from '../../../core/persistence/index.ts';
import type { StoreTables } from './schema.ts';

export function toTask(row: Selectable<StoreTables['tasks']>): TaskRow {
  return {
    id: row.id,
    contextId: row.context_id,
    reporter: row.reporter,
    state: row.state as TaskState,
    subState: row.sub_state as SubState | null,
    statusSeq: row.status_seq,
    data: JSON.parse(row.data) as TaskData,
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
    body: JSON.parse(row.body) as LogBody,
  };
}

export function toInbox(row: Selectable<StoreTables['inbox']>): InboxRow {
  return {
    key: row.key,
    taskId: row.task_id,
    sender: row.sender,
    senderKind: row.sender_kind as ParticipantKind,
    messageId: row.message_id,
    bodyHash: row.body_hash,
    message: JSON.parse(row.message) as InboundMessage,
    mail: JSON.parse(row.mail) as MailItem,
    receivedAt: row.received_at,
    consumed: row.consumed !== 0,
  };
}

export function toTranscript(row: Selectable<StoreTables['transcript']>): TranscriptRow {
  return { n: row.n, key: row.key, item: JSON.parse(row.item) as TranscriptItem };
}
