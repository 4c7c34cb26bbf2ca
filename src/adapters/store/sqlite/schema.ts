import type { Generated } from 'kysely';

/** The tables, as Kysely sees them. JSON columns hold text. */
export interface StoreTables {
  meta: { key: string; value: string };
  tasks: {
    id: string;
    context_id: string;
    reporter: string;
    state: string;
    sub_state: string | null;
    status_seq: number;
    data: string;
    created_at: string;
    updated_at: string;
    log: Generated<number>;
    transcript: Generated<number>;
  };
  /** Who may read which task, with what lists are filtered and ordered by. */
  task_readers: { task_id: string; reader: string; state: string; status_at: string; context_id: string };
  events: {
    task_id: string;
    seq: number;
    key: string;
    kind: string;
    exchange: number;
    at: string;
    body: string;
  };
  transcript: { task_id: string; n: number; key: string; item: string };
  effects: { task_id: string; key: string; body: string };
  blobs: { task_id: string; key: string; text: string };
  inbox: {
    key: string;
    task_id: string;
    sender: string;
    sender_kind: string;
    message_id: string;
    body_hash: string;
    message: string;
    mail: string;
    received_at: string;
    consumed: Generated<number>;
  };
  /** Messages on their way in: whose they are, and until when (milliseconds since the epoch). */
  claims: { key: string; owner: string; until: number };
  refusals: {
    id: Generated<number>;
    task_id: string;
    sender: string;
    message_id: string;
    reason: string;
    at: string;
  };
}

/** Marks the file as ours (`PRAGMA application_id`): "tnyh". */
export const APPLICATION_ID = 0x746e7968;

/** Forward-only: version N of a store has run the first N of these. */
export const MIGRATIONS: readonly string[] = [
  `
  create table meta (key text primary key, value text not null) strict;
  create table tasks (
    id text primary key, context_id text not null, reporter text not null,
    state text not null, sub_state text, status_seq integer not null, data text not null,
    created_at text not null, updated_at text not null,
    log integer not null default 0, transcript integer not null default 0
  ) strict;
  create table events (
    task_id text not null references tasks (id), seq integer not null, key text not null, kind text not null,
    exchange integer not null, at text not null, body text not null,
    primary key (task_id, seq), unique (task_id, key)
  ) strict;
  create table transcript (
    task_id text not null references tasks (id), n integer not null, key text not null, item text not null,
    primary key (task_id, n), unique (task_id, key)
  ) strict;
  create table effects (
    task_id text not null references tasks (id), key text not null, body text not null, primary key (task_id, key)
  ) strict;
  create table blobs (
    task_id text not null references tasks (id), key text not null, text text not null, primary key (task_id, key)
  ) strict;
  create table inbox (
    key text primary key, task_id text not null, sender text not null, sender_kind text not null,
    message_id text not null, body_hash text not null, message text not null, mail text not null,
    received_at text not null,
    consumed integer not null default 0
  ) strict;
  create index inbox_unconsumed on inbox (received_at) where consumed = 0;
  create table refusals (
    id integer primary key, task_id text not null, sender text not null, message_id text not null,
    reason text not null, at text not null
  ) strict;
  `,
  // Everybody named in a task's data may read it. The last index is narrow: a total reads a row of it for each task.
  `
  create table task_readers (
    task_id text not null references tasks (id) on delete cascade, reader text not null,
    state text not null, status_at text not null, context_id text not null,
    primary key (task_id, reader)
  ) strict;
  insert into task_readers
    select tasks.id, participant.value ->> 'id', tasks.state, events.at, tasks.context_id
    from tasks
    join events on events.task_id = tasks.id and events.seq = tasks.status_seq
    join json_each(tasks.data, '$.participants') as participant
    where true
    on conflict do nothing;
  create index task_readers_by_time on task_readers (reader, status_at, task_id);
  create index task_readers_by_state on task_readers (reader, state, status_at, task_id);
  create index task_readers_by_context on task_readers (reader, context_id, status_at, task_id);
  create index task_readers_counted on task_readers (reader, state);
  `,
  `
  create table claims (key text primary key, owner text not null, until integer not null) strict;
  create index tasks_running on tasks (reporter) where state in ('SUBMITTED', 'WORKING');
  `,
];
