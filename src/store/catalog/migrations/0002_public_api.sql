-- A version counts the changes of a thing: what its ETag says.
alter table sites add column version integer not null default 1;
alter table goals add column version integer not null default 1;
alter table funnels add column version integer not null default 1;

-- The secret before the last rotation works until its grace ends. An empty list of ranges admits every address; without a
-- rate of its own a key has that of the instance, in requests per minute.
alter table api_keys add column prev_hash blob;
alter table api_keys add column prev_valid_until integer;
alter table api_keys add column ip_allow_json text not null default '[]';
alter table api_keys add column rate_limit integer;
alter table api_keys add column version integer not null default 1;

-- `at` is a day or an instant, as it was given.
create table annotations (
  id integer primary key autoincrement,
  site_id integer not null references sites (id) on delete cascade,
  at text not null,
  text text not null,
  created_at integer not null,
  updated_at integer not null,
  version integer not null default 1
) strict;
create index annotations_site_id on annotations (site_id, id);

-- What a request with an Idempotency-Key was answered. `scope` is the API key with method and path.
create table idempotent_answers (
  scope text not null,
  key text not null,
  body_hash blob not null,
  status integer not null,
  headers_json text not null,
  body text not null,
  created_at integer not null,
  primary key (scope, key)
) strict, without rowid;
create index idempotent_answers_created_at on idempotent_answers (created_at);
