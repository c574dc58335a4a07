-- Times are UTC epoch milliseconds. Ids are never used again, also not that of the newest row after its deletion.

create table organizations (
  id integer primary key autoincrement,
  name text not null,
  created_at integer not null,
  updated_at integer not null
) strict;

-- `email_key` is the address in lower case: two users never differ by case alone.
create table users (
  id integer primary key autoincrement,
  email text not null,
  email_key text not null unique,
  name text not null,
  password_hash text,
  is_instance_admin integer not null default 0 check (is_instance_admin in (0, 1)),
  status text not null default 'active' check (status in ('active', 'disabled', 'deleted')),
  created_at integer not null
) strict;

create table memberships (
  id integer primary key autoincrement,
  organization_id integer not null references organizations (id),
  user_id integer not null references users (id),
  role text not null check (role in ('owner', 'admin', 'editor', 'viewer', 'guest')),
  created_at integer not null,
  unique (organization_id, user_id)
) strict;
create index memberships_user_id on memberships (user_id);

-- One row once the first user was made; it stays for ever, so that set-up happens once.
create table setup (
  id integer primary key check (id = 1),
  completed_at integer not null,
  completed_by integer not null
) strict;

-- A deleted site keeps its row: it can be restored, and its id is not used again.
create table sites (
  id integer primary key autoincrement,
  organization_id integer not null references organizations (id),
  name text not null,
  hosts_json text not null,
  timezone text not null,
  retention_days integer,
  revenue_currency text not null,
  tracking_id text not null unique,
  settings_json text not null,
  identity_history_json text not null default '[]',
  created_at integer not null,
  updated_at integer not null,
  deleted_at integer
) strict;
create index sites_organization_id on sites (organization_id);
create index sites_deleted_at on sites (deleted_at) where deleted_at is not null;

-- The two keys of a site, sealed with the instance's secret key.
create table site_keys (
  site_id integer not null references sites (id) on delete cascade,
  purpose text not null check (purpose in ('site', 'identity')),
  sealed blob not null,
  primary key (site_id, purpose)
) strict, without rowid;

-- Sealed. A row is destroyed, with overwriting, when `destroy_at` has come.
create table salts (
  site_id integer not null references sites (id) on delete cascade,
  period text not null,
  sealed blob not null,
  destroy_at integer not null,
  primary key (site_id, period)
) strict, without rowid;
create index salts_destroy_at on salts (destroy_at);

-- `name_key` is the name in lower case; `props_json` has its keys in order, so that equal properties are equal text.
create table goals (
  id integer primary key autoincrement,
  site_id integer not null references sites (id) on delete cascade,
  kind text not null,
  match text not null,
  value text not null,
  name text not null,
  name_key text not null,
  threshold integer,
  props_json text not null,
  created_at integer not null,
  updated_at integer not null
) strict;
create unique index goals_definition on goals (site_id, kind, match, value, coalesce(threshold, 0), props_json);
create unique index goals_name_key on goals (site_id, name_key);

create table funnels (
  id integer primary key autoincrement,
  site_id integer not null references sites (id) on delete cascade,
  name text not null,
  name_key text not null,
  steps_json text not null,
  "order" text not null,
  window_hours integer,
  created_at integer not null,
  updated_at integer not null
) strict;
create unique index funnels_name_key on funnels (site_id, name_key);

-- `site_access` 'all' reaches future sites too; an empty list reaches none. Of the key itself only a hash is stored.
create table api_keys (
  id integer primary key autoincrement,
  organization_id integer not null references organizations (id),
  name text not null,
  key_id text not null unique,
  secret_hash blob not null,
  last4 text not null,
  scopes_json text not null,
  site_access text not null check (site_access in ('all', 'list')),
  site_ids_json text not null,
  created_at integer not null,
  expires_at integer,
  last_used_at integer,
  revoked_at integer
) strict;
create index api_keys_organization_id on api_keys (organization_id);

-- A run of a job is known by the moment it was due: it happens once, over restarts, clock jumps and days of 25 hours.
create table job_runs (
  name text not null,
  slot text not null,
  started_at integer not null,
  finished_at integer,
  primary key (name, slot)
) strict, without rowid;
create index job_runs_started_at on job_runs (started_at);
