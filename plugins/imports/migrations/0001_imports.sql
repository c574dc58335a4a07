create table imports_imports (
  id integer primary key autoincrement,
  site_id integer not null,
  source text not null,
  label text not null,
  kind text not null check (kind in ('rows', 'aggregate', 'mixed')),
  state text not null check (state in ('pending', 'running', 'completed', 'failed', 'cancelled', 'undoing', 'undone')),
  options_json text not null,
  overlap text not null check (overlap in ('native_wins', 'fill_gaps', 'import_wins_over_imports', 'allow')),
  source_hash text,
  preview_hash text,
  files_json text not null,
  bytes integer not null,
  rows_total integer,
  rows_read integer not null default 0,
  rows_imported integer not null default 0,
  rows_skipped integer not null default 0,
  rows_rejected integer not null default 0,
  skip_reasons_json text not null default '{}',
  totals_json text not null default '{}',
  date_start text,
  date_end text,
  days_effective integer not null default 0,
  enabled integer not null default 1 check (enabled in (0, 1)),
  created_objects_json text not null default '[]',
  created_by integer,
  created_at integer not null,
  started_at integer,
  finished_at integer,
  undone_by integer,
  undone_at integer,
  error_code text,
  error_message text,
  timezone text not null,
  -- Name of its folder of staged files, until they are deleted.
  folder text,
  folder_expires_at integer,
  -- Rules for days, fixed when the run starts.
  rules_json text,
  job_id integer,
  forced integer not null default 0 check (forced in (0, 1)),
  version integer not null default 1
) strict;
create index imports_imports_site_id on imports_imports (site_id, id);
create index imports_imports_state on imports_imports (state, id);
create index imports_imports_source_hash on imports_imports (site_id, source_hash);

create table imports_days (
  import_id integer not null references imports_imports (id),
  day text not null,
  state text not null check (state in ('effective', 'masked', 'skipped')),
  reason text,
  masked_by integer,
  primary key (import_id, day)
) strict, without rowid;

create table imports_uploads (
  id text primary key,
  site_id integer not null,
  user_id integer not null,
  name text not null,
  path text not null,
  bytes integer not null,
  received integer not null default 0,
  sha256 text,
  expires_at integer not null
) strict;
create index imports_uploads_user_id on imports_uploads (user_id, expires_at);
create index imports_uploads_expires_at on imports_uploads (expires_at);
create index imports_uploads_site_id on imports_uploads (site_id);

create table imports_streams (
  site_id integer not null,
  stream text not null,
  import_id integer not null references imports_imports (id),
  covered_json text not null default '[]',
  run integer not null default 0,
  pending_json text,
  primary key (site_id, stream)
) strict, without rowid;
create index imports_streams_import_id on imports_streams (import_id);
