-- Counters of the store as a whole: generation, log_floor, log_epoch, sequence, dictionary_epoch, event_id_seed.
create table state (
  key text primary key,
  value integer not null
) strict, without rowid;

-- One record a group commit: what replay needs to rebuild the tail. Removed as visits are sealed; the first record then
-- holds what sealing left in the tail, and `kept` the ids of those visits.
create table log (
  id integer primary key,
  arrived_at integer not null,
  first_sequence integer not null,
  record blob not null,
  kept blob
) strict;

-- Columnar segments: runs of closed visits with their events. A replaced one stays, marked, until no report reads it.
create table segments (
  id integer primary key autoincrement,
  site_id integer not null,
  import_id integer not null,
  kind text not null,
  format integer not null,
  visits integer not null,
  events integer not null,
  min_start integer not null,
  max_start integer not null,
  min_at integer not null,
  max_at integer not null,
  visitor_limit integer not null,
  bytes integer not null,
  header blob not null,
  hidden integer not null default 0,
  retired_at integer
) strict;
create index segments_site on segments (site_id, kind, min_start);

-- One column of one segment; the id is segment × 128 + column.
create table segment_columns (
  id integer primary key,
  data blob not null
) strict;

-- Texts by number, per site and dictionary. A blanked text keeps its number.
create table dictionary (
  site_id integer not null,
  name text not null,
  id integer not null,
  value text not null,
  primary key (site_id, name, id)
) strict, without rowid;

-- How many values of a dictionary were new on a local day: the limits hold over restarts.
create table new_values (
  site_id integer not null,
  day text not null,
  name text not null,
  count integer not null,
  primary key (site_id, day, name)
) strict, without rowid;

-- From rotating id to visitor; destroyed with the salt of its period.
create table visitor_ids (
  site_id integer not null,
  period text not null,
  id blob not null,
  ordinal integer not null,
  primary key (site_id, period, id)
) strict, without rowid;

-- From person key to visitor.
create table identities (
  site_id integer not null,
  person_key blob not null,
  ordinal integer not null,
  primary key (site_id, person_key)
) strict, without rowid;

-- The next visitor ordinal of a site, as of the last seal; the log holds what came after.
create table ordinals (
  site_id integer primary key,
  next integer not null
) strict;

-- For each hour of event_ids_<hour> that is over: says "surely not seen" without asking the table.
create table event_id_filters (
  hour integer primary key,
  bits blob not null
) strict;

create table drops (
  site_id integer not null,
  day text not null,
  reason text not null,
  entry text not null,
  count integer not null,
  primary key (site_id, day, reason, entry)
) strict, without rowid;

create table drop_samples (
  id integer primary key,
  site_id integer not null,
  at integer not null,
  reason text not null,
  hostname text not null,
  page text not null,
  browser text not null,
  country text not null
) strict;
create index drop_samples_site on drop_samples (site_id, id);
