-- Texts of search results, which rows name by id.
create table integrations_search_terms (
  id integer primary key autoincrement,
  site_id integer not null,
  kind text not null check (kind in ('query', 'page')),
  value text not null,
  unique (site_id, kind, value)
) strict;

-- The rows of one day, packed column by column. A day is its number since 1970, as the search engine counts it.
create table integrations_search_rows (
  site_id integer not null,
  engine text not null,
  property text not null,
  search_type text not null,
  detail text not null check (detail in ('page', 'place', 'query')),
  day integer not null,
  rows blob not null,
  primary key (site_id, engine, property, search_type, detail, day)
) strict;

create table integrations_search_totals (
  site_id integer not null,
  engine text not null,
  property text not null,
  search_type text not null,
  day integer not null,
  clicks integer not null,
  impressions integer not null,
  -- Position times impressions, in thousandths. null if the engine does not state it.
  position_sum integer,
  -- Whether the engine may still change the day, and whether it returned only a part of its rows.
  fresh integer not null default 0,
  cut integer not null default 0,
  primary key (site_id, engine, property, search_type, day)
) strict, without rowid;

-- How far the data of a property was fetched.
create table integrations_search_sync (
  site_id integer not null,
  engine text not null,
  property text not null,
  search_type text not null,
  -- First and last day without a gap between them.
  backfilled_to integer,
  synced_to integer,
  first_incomplete_day integer,
  -- Day at which the back-fill ends.
  position_json text not null default '{}',
  primary key (site_id, engine, property, search_type)
) strict, without rowid;
