-- Shields for all sites of the instance. `conditions_json` is of kind `rule` alone.
create table instance_shields (
  id integer primary key autoincrement,
  kind text not null,
  value text not null,
  conditions_json text,
  note text not null,
  enabled integer not null check (enabled in (0, 1)),
  created_at integer not null,
  updated_at integer not null,
  version integer not null default 1,
  unique (kind, value)
) strict;
