/**
 * What is kept of a task and how it is announced: records, the store's port, the bus, and the journal that joins them.
 * Implementations of the store live in `adapters/store/*`.
 */
export { type BusEvent, type EventBus, type JournalEvent, LocalBus, type TextDelta } from './bus.ts';
export { Journal, type JournalRedactor, type TextWriter } from './journal.ts';
export { checkRecord, parseRecord, type RecordPlace } from './parse-record.ts';
export type {
  ApprovalRecord,
  InboundMessage,
  InboxRow,
  LogBody,
  LogEntry,
  PartRecord,
  QuestionRecord,
  TaskRow,
  TranscriptItem,
  TranscriptRow,
} from './records.ts';
export { RECORDS } from './schemas.ts';
export type {
  AdmissionWrite,
  Admitted,
  LogQuery,
  NewEntry,
  NewTask,
  RefusalRecord,
  TaskList,
  TaskListQuery,
  TaskPlace,
  TaskStore,
  TaskWrite,
  TaskWritten,
} from './store.ts';
