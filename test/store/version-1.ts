/** A store as version 1 of the schema left it, with two tasks. Never edited: files like this one are out there. */
export const VERSION_1 = `
pragma application_id = 0x746e7968;
pragma user_version = 1;
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
insert into meta values ('identity', 'the-identity');
insert into tasks values
  ('old', 'c-old', 'alice', 'COMPLETED', null, 2,
   '{"name":"n","goal":"g","type":null,"description":"","acceptanceCriteria":[],"participants":[{"id":"alice","kind":"human","role":"reporter","displayName":"alice"}],"parentTasks":[],"subTasks":[],"plan":null,"lifecycle":"conversation","model":null,"reasoningEffort":null}',
   '2026-01-01T00:00:00.000Z', '2026-01-05T00:00:00.000Z', 3, 0),
  ('new', 'c-new', 'alice', 'WORKING', null, 2,
   '{"name":"n","goal":"g","type":null,"description":"","acceptanceCriteria":[],"participants":[{"id":"alice","kind":"human","role":"reporter","displayName":"alice"},{"id":"bob","kind":"human","role":"watcher","displayName":"bob"}],"parentTasks":[],"subTasks":[],"plan":null,"lifecycle":"conversation","model":null,"reasoningEffort":null}',
   '2026-01-02T00:00:00.000Z', '2026-01-03T00:00:00.000Z', 2, 0);
insert into events values
  ('old', 1, 'submitted', 'state', 0, '2026-01-01T00:00:00.000Z', '{}'),
  ('old', 2, 'state:0', 'state', 1, '2026-01-02T00:00:00.000Z', '{}'),
  ('old', 3, 'note:0', 'note', 1, '2026-01-05T00:00:00.000Z', '{}'),
  ('new', 1, 'submitted', 'state', 0, '2026-01-02T00:00:00.000Z', '{}'),
  ('new', 2, 'working:1', 'state', 1, '2026-01-03T00:00:00.000Z', '{}');
`;
