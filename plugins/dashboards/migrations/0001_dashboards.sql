create table dashboards_dashboards (
  id integer primary key autoincrement,
  site_id integer not null,
  owner_user_id integer not null,
  name text not null,
  description text not null,
  visibility text not null check (visibility in ('private', 'site')),
  range_json text not null,
  filters_json text not null,
  refresh_s integer not null,
  position integer not null,
  version integer not null default 1,
  created_at integer not null,
  updated_at integer not null,
  deleted_at integer
) strict;
create index dashboards_dashboards_site on dashboards_dashboards (site_id, id);
create index dashboards_dashboards_owner on dashboards_dashboards (owner_user_id, site_id);
create index dashboards_dashboards_deleted on dashboards_dashboards (deleted_at) where deleted_at is not null;

-- `source_site_name` is the name of a site that no site of the reader has, of an imported dashboard.
create table dashboards_widgets (
  id integer primary key autoincrement,
  dashboard_id integer not null references dashboards_dashboards (id) on delete cascade,
  type text not null,
  title text not null,
  x integer not null,
  y integer not null,
  w integer not null,
  h integer not null,
  source_site_id integer,
  source_site_name text,
  config_json text not null
) strict;
create index dashboards_widgets_dashboard on dashboards_widgets (dashboard_id, id);

create table dashboards_shares (
  id integer primary key autoincrement,
  dashboard_id integer not null references dashboards_dashboards (id) on delete cascade,
  slug_hash blob not null,
  slug_sealed blob not null,
  name text not null,
  password_hash text,
  password_version integer not null default 0,
  expires_at integer,
  site_ids_json text not null default '[]',
  locked_filters_json text not null default '[]',
  allow_range integer not null,
  allow_filters integer not null,
  allow_export integer not null,
  embed_origins_json text not null default '[]',
  theme text not null check (theme in ('auto', 'light', 'dark')),
  min_group integer,
  created_by integer not null,
  version integer not null default 1,
  created_at integer not null,
  updated_at integer not null,
  revoked_at integer,
  last_viewed_at integer,
  views integer not null default 0
) strict;
create unique index dashboards_shares_slug on dashboards_shares (slug_hash);
create index dashboards_shares_dashboard on dashboards_shares (dashboard_id, id);
create index dashboards_shares_creator on dashboards_shares (created_by);

create table dashboards_preferences (
  user_id integer not null,
  site_id integer not null,
  default_dashboard_id integer,
  order_json text not null,
  primary key (user_id, site_id)
) strict, without rowid;
create index dashboards_preferences_site on dashboards_preferences (site_id);

create table dashboards_site_defaults (
  site_id integer primary key,
  dashboard_id integer not null
) strict;
