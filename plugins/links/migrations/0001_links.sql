create table links_links (
  id integer primary key autoincrement,
  site_id integer not null,
  domain_id integer,
  slug text not null,
  slug_key text not null,
  destination text not null,
  title text not null,
  notes text not null,
  tags_json text not null,
  redirect_status integer not null,
  forward_query integer not null,
  forward_path integer not null,
  utm_json text not null,
  utm_mode text not null,
  starts_at integer,
  expires_at integer,
  expired_destination text,
  max_clicks integer,
  password_hash text,
  password_version integer not null default 0,
  rules_json text not null,
  noindex integer not null,
  archived_at integer,
  clicks_human integer not null default 0,
  clicks_bot integer not null default 0,
  clicks_qr integer not null default 0,
  last_click_at integer,
  counted_to integer not null default 0,
  created_by integer,
  version integer not null default 1,
  created_at integer not null,
  updated_at integer not null,
  deleted_at integer
) strict;
create unique index links_links_slug on links_links (ifnull(domain_id, 0), slug_key) where deleted_at is null;
create index links_links_site on links_links (site_id, id);
create index links_links_deleted on links_links (deleted_at) where deleted_at is not null;

create table links_tombstones (
  id integer primary key autoincrement,
  domain_id integer,
  slug_key text not null,
  organization_id integer not null,
  link_id integer,
  freed_at integer not null,
  until integer not null
) strict;
create unique index links_tombstones_slug on links_tombstones (ifnull(domain_id, 0), slug_key);
create index links_tombstones_until on links_tombstones (until);

create table links_utm_templates (
  id integer primary key autoincrement,
  organization_id integer not null,
  site_id integer,
  name text not null,
  name_key text not null,
  fields_json text not null,
  required_json text not null,
  version integer not null default 1,
  created_at integer not null,
  updated_at integer not null
) strict;
create unique index links_utm_templates_name on links_utm_templates (organization_id, name_key);
create index links_utm_templates_site on links_utm_templates (site_id);

create table links_domains (
  id integer primary key autoincrement,
  organization_id integer not null,
  host text not null unique,
  token text not null,
  verified_at integer,
  root_destination text,
  not_found_destination text,
  version integer not null default 1,
  created_at integer not null,
  updated_at integer not null
) strict;
create index links_domains_organization on links_domains (organization_id, id);

create table links_orphans (
  id integer primary key autoincrement,
  day text not null,
  domain_id integer,
  kind text not null,
  path_sample text not null,
  count integer not null
) strict;
create unique index links_orphans_sample on links_orphans (day, ifnull(domain_id, 0), kind, path_sample);

create table links_folds (
  site_id integer primary key,
  folded_at integer not null,
  sequence integer not null
) strict;
