-- What a second engine still needs from this store. All three tables are empty unless one is configured.

-- The segments that the engine gets.
create table spool (
  segment integer primary key,
  -- Last record of the log that concerns one of its visits; null for those of imports, which are not in the log.
  floor integer,
  -- Since when the engine has all visits; null while it may not.
  shipped_at integer
) strict;

-- How visits of segments were opened, as far as the segment does not tell.
create table openings (
  lane integer not null,
  -- First event by time, by which the segment knows the visit.
  sequence integer not null,
  -- First event by arrival, by which the engine knows the visit, and its time.
  opening integer not null,
  opened_at integer not null,
  rotating integer not null,
  -- Last record of the log when the row was written.
  record integer not null,
  primary key (lane, sequence)
) strict, without rowid;

-- The values of visitors whose rotating ids were destroyed before the engine had all of their visits.
create table visitor_values (
  site_id integer not null,
  ordinal integer not null,
  value blob not null,
  -- Last record of the log when the row was written.
  record integer not null,
  primary key (site_id, ordinal)
) strict, without rowid;
