create table cohorts_cohorts (
  id integer primary key autoincrement,
  site_id integer not null,
  name text not null,
  name_key text not null,
  description text not null,
  definition_json text not null,
  kind text not null check (kind in ('dynamic', 'static')),
  restrict_to text,
  identity_min_days integer not null,
  size integer,
  pending integer,
  coverage real,
  least_difference integer,
  computed_at integer,
  compute_ms integer,
  created_by integer,
  version integer not null default 1,
  created_at integer not null,
  updated_at integer not null,
  deleted_at integer
) strict;
create unique index cohorts_cohorts_name on cohorts_cohorts (site_id, name_key) where deleted_at is null;
create index cohorts_cohorts_site on cohorts_cohorts (site_id, id);
create index cohorts_cohorts_deleted on cohorts_cohorts (deleted_at) where deleted_at is not null;

create table cohorts_erasures (
  id integer primary key autoincrement,
  site_id integer not null,
  visitor_hash text not null,
  state text not null check (state in ('queued', 'running', 'done', 'failed')),
  counts_json text not null,
  requested_by integer,
  requested_at integer not null,
  finished_at integer
) strict;
create index cohorts_erasures_site on cohorts_erasures (site_id, id);
