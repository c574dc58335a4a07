create table pixels_pixels (
  id integer primary key autoincrement,
  site_id integer not null,
  slug text not null,
  slug_key text not null,
  name text not null,
  kind text not null,
  allowed_params_json text not null,
  recipient_mode text not null,
  badge_public integer not null,
  opens_total integer not null default 0,
  opens_direct integer not null default 0,
  last_open_at integer,
  counted_to integer not null default 0,
  archived_at integer,
  created_by integer,
  version integer not null default 1,
  created_at integer not null,
  updated_at integer not null,
  deleted_at integer
) strict;
create unique index pixels_pixels_slug on pixels_pixels (slug_key) where deleted_at is null;
create index pixels_pixels_site on pixels_pixels (site_id, id);
create index pixels_pixels_deleted on pixels_pixels (deleted_at) where deleted_at is not null;

create table pixels_tombstones (
  slug_key text primary key,
  organization_id integer not null,
  pixel_id integer not null,
  freed_at integer not null,
  until integer not null
) strict;
create index pixels_tombstones_until on pixels_tombstones (until);

create table pixels_folds (
  site_id integer primary key,
  at integer not null,
  sequence integer not null
) strict;

create table pixels_orphans (
  day text primary key,
  count integer not null
) strict;
