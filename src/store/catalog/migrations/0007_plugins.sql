-- What plugins share: their switches, jobs, product events, sealed values.

-- A plugin without a row is on.
create table plugins (
  id text primary key,
  enabled integer not null check (enabled in (0, 1)),
  updated_by integer,
  updated_at integer not null,
  version integer not null
) strict, without rowid;

-- Of a kind and key one runs at a time. `slot` is the moment a schedule was due: each is made once. `payload_json` is what a
-- job has to do, and from where it goes on; a lease says which process carries it out.
create table jobs (
  id integer primary key autoincrement,
  kind text not null,
  key text not null,
  slot text,
  organization_id integer,
  site_id integer,
  state text not null check (state in ('queued', 'running', 'done', 'failed', 'cancelled')),
  payload_json text not null,
  progress_json text,
  attempts integer not null default 0,
  run_at integer not null,
  leased_by text,
  leased_until integer,
  created_by integer,
  created_at integer not null,
  started_at integer,
  finished_at integer,
  error_code text,
  error_message text
) strict;
create unique index jobs_slot on jobs (kind, slot) where slot is not null;
create index jobs_run_at on jobs (run_at) where state = 'queued';
create index jobs_running on jobs (kind, key) where state = 'running';
create index jobs_finished_at on jobs (finished_at) where finished_at is not null;
create index jobs_kind on jobs (kind, id);
create index jobs_state on jobs (state, id);
create index jobs_site_id on jobs (site_id, id);

-- Runs of upkeep are jobs too.
drop table job_runs;

-- `is_custom`: somebody has chosen the time, so a new version of the program leaves it.
create table schedules (
  name text primary key,
  cron text not null,
  timezone text not null,
  is_custom integer not null default 0 check (is_custom in (0, 1)),
  enabled integer not null default 1 check (enabled in (0, 1)),
  last_run_at integer,
  next_run_at integer
) strict, without rowid;

-- Product events, in the order they were committed.
create table outbox (
  id integer primary key autoincrement,
  event text not null,
  organization_id integer not null,
  site_id integer,
  payload_json text not null,
  at integer not null
) strict;
create index outbox_at on outbox (at);

create table outbox_cursors (
  consumer text primary key,
  last_id integer not null
) strict, without rowid;

-- Sealed with the instance's secret key for the row they belong to; `hint` is the end of a long one.
create table secrets (
  id integer primary key autoincrement,
  owner text not null,
  place_table text not null,
  place_row text not null,
  purpose text not null,
  sealed blob not null,
  hint text,
  created_at integer not null,
  rotated_at integer
) strict;
create index secrets_place on secrets (place_table, place_row);
