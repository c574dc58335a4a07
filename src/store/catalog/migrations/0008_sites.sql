-- What people keep of a site besides goals and funnels.

-- Sites that somebody wants to see first.
create table site_pins (
  user_id integer not null references users (id),
  site_id integer not null references sites (id) on delete cascade,
  created_at integer not null,
  primary key (user_id, site_id)
) strict, without rowid;
create index site_pins_site_id on site_pins (site_id);

-- Saved filters. A personal one is seen by its owner alone.
create table segments (
  id integer primary key autoincrement,
  site_id integer not null references sites (id) on delete cascade,
  scope text not null check (scope in ('personal', 'site')),
  owner_user_id integer references users (id),
  name text not null,
  filters_json text not null,
  created_at integer not null,
  updated_at integer not null,
  version integer not null default 1
) strict;
create index segments_site_id on segments (site_id, id);

-- Of annotations that were made by a key nobody is the owner.
alter table annotations add column scope text not null default 'site' check (scope in ('personal', 'site'));
alter table annotations add column owner_user_id integer references users (id);

-- Views of a site for everybody who has the address. It is looked up by its hash, and sealed so that editors can copy it.
-- `password_version` counts the passwords: what was unlocked by an older one is locked again. `is_public` marks the one that
-- the site's setting makes.
create table shares (
  id integer primary key autoincrement,
  site_id integer not null references sites (id) on delete cascade,
  slug_hash blob not null unique,
  slug_sealed blob not null,
  name text not null,
  password_hash text,
  password_version integer not null default 0,
  expires_at integer,
  locked_filters_json text not null,
  sections_json text not null,
  allow_range integer not null check (allow_range in (0, 1)),
  allow_filters integer not null check (allow_filters in (0, 1)),
  allow_export integer not null check (allow_export in (0, 1)),
  embed_origins_json text not null,
  is_public integer not null default 0 check (is_public in (0, 1)),
  created_by integer references users (id),
  created_at integer not null,
  updated_at integer not null,
  version integer not null default 1
) strict;
create index shares_site_id on shares (site_id, id);
create unique index shares_public on shares (site_id) where is_public = 1;
